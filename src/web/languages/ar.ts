import type { Texts } from './en.ts';

export const ar: Texts = {
  nps: { lowest: 'غير محتمل إطلاقًا', highest: 'محتمل جدًا' },
  ces: { lowest: 'صعب جدًا', highest: 'سهل جدًا' },
  csat: ['غير راضٍ إطلاقًا', 'غير راضٍ', 'محايد', 'راضٍ', 'راضٍ جدًا'],
  star5: { lowest: 'سيئ', highest: 'ممتاز' },
  thumbs: { lowest: 'لم يعجبني', highest: 'أعجبني' },
  stars: (count) => ['', 'نجمة واحدة', 'نجمتان'][count] || `${count} نجوم`,
  scoreOf: (score, highest) => `${score} من ${highest}`,

  comment: 'ما السبب الرئيسي لتقييمك؟',
  optional: 'اختياري',
  send: 'إرسال الإجابة',
  chosen: 'تم اختيار تقييمك. أرسله الآن.',
  scoreMissing: 'يُرجى اختيار تقييم أولًا.',
  commentTooLong: (most) => `يُرجى اختصار تعليقك إلى ${most} حرف.`,
  tooManyAnswers: 'تصل إجابات كثيرة من شبكتك الآن. يُرجى الانتظار دقيقة ثم إعادة الإرسال.',
  notSaved: 'تعذّر حفظ إجابتك الآن. يُرجى إرسالها مرة أخرى.',
  leaveEmpty: 'يُرجى ترك هذا الحقل فارغًا',
  doNotFollow: 'يُرجى عدم فتح هذا الرابط',

  thanks: {
    title: 'شكرًا لك!',
    text: (organization) => `وصلت إجابتك إلى ${organization}.`,
  },
  answered: {
    title: 'لقد أجبت من قبل',
    text: (organization, when) => `هذا ما قلته لـ ${organization} في ${when}.`,
  },
  yourScore: 'تقييمك',
  yourComment: 'تعليقك',
  questions: {
    send: 'إرسال',
    finish: 'إنهاء دون إجابة',
    other: 'غير ذلك',
    several: 'يمكن اختيار أكثر من إجابة',
    missing: 'يُرجى الإجابة عن هذا السؤال.',
    notSaved: 'تعذّر حفظ إجاباتك. يُرجى مراجعتها ثم إرسالها مرة أخرى.',
    saved: 'تم الحفظ',
  },
  closed: {
    title: 'انتهى هذا الاستبيان',
    text: (organization) => `لم تعد ${organization} تجمع الإجابات هنا. شكرًا لرغبتك في المشاركة.`,
  },
  draft: {
    title: 'لم يُفتح هذا الاستبيان بعد',
    text: (organization) => `ما زالت ${organization} تُعدّه. يُرجى العودة لاحقًا.`,
  },
  notFound: {
    title: 'لا يوجد استبيان هنا',
    text: 'قد يكون الرابط غير مكتمل. يُرجى فتحه مرة أخرى من بريدك الإلكتروني.',
  },
  tooManyRequests: {
    title: 'لحظة من فضلك',
    text: 'تصل طلبات كثيرة من شبكتك الآن. يُرجى المحاولة بعد دقيقة.',
  },
  refused: {
    title: 'لم ينجح ذلك',
    text: 'يُرجى الرجوع إلى الصفحة السابقة والمحاولة منها مرة أخرى.',
  },
  unavailable: {
    title: 'سنعود بعد لحظات',
    text: 'لا يمكن عرض هذه الصفحة الآن. يُرجى المحاولة بعد قليل.',
  },
  broken: {
    title: 'حدث خطأ لدينا',
    text: 'ليس الخطأ منك. يُرجى المحاولة لاحقًا.',
  },

  unsubscribe: {
    title: 'إلغاء الاشتراك؟',
    text: (email, organization) => `لن يتلقى ${email} استبيانات أخرى من ${organization}.`,
    action: 'إلغاء الاشتراك',
  },
  unsubscribed: {
    title: 'تم إلغاء اشتراكك',
    text: (email, organization) => `لن يتلقى ${email} استبيانات أخرى من ${organization}.`,
    undo: 'تراجع',
  },
  resubscribed: {
    title: 'عاد اشتراكك',
    text: (email, organization) => `قد يتلقى ${email} استبيانات من ${organization} من جديد.`,
  },

  mail: {
    greeting: (name) => (name ? `مرحبًا ${name}،` : 'مرحبًا،'),
    preview: 'نقرة واحدة تكفي للإجابة.',
    hint: 'اختر إجابتك. في الصفحة التي ستُفتح يمكنك تغييرها وإضافة تعليق.',
    openPage: 'فتح الاستبيان في المتصفح',
    whyCustomer: (organization) => `وصلتك هذه الرسالة لأن ${organization} تود معرفة رأيك.`,
    whyEmployee: (organization) => `وصلتك هذه الرسالة لأن ${organization} تسأل العاملين فيها.`,
    sentTo: (address) => `أُرسلت إلى ${address}.`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `ما مدى احتمال أن توصي صديقًا أو زميلًا بـ ${organization}؟`,
      subject: `هل توصي بـ ${organization}؟`,
      follow_up: {
        promoter: 'ما أكثر شيء يعجبك؟',
        passive: 'ما الذي ينقصنا لنستحق 10؟',
        detractor: 'ما الذي ينبغي أن نحسّنه؟',
      },
      thanks: 'شكرًا لك! إجابتك تساعدنا على التحسّن.',
      questions: [
        {
          text: 'ما أكثر ما أثّر في تقييمك؟',
          options: ['الجودة', 'السعر', 'الخدمة', 'سهولة الاستخدام'],
        },
        { text: 'هل يمكننا التواصل معك بشأن إجابتك؟', options: ['نعم', 'لا'] },
      ],
    },
    support: {
      question_text: 'ما مدى رضاك عن المساعدة التي تلقيتها؟',
      subject: 'كيف كان دعمنا لك؟',
      follow_up: 'ما الذي أحسنّا فعله، وما الذي يمكننا تحسينه؟',
      thanks: 'شكرًا لك! إجابتك تساعد فريق الدعم على التحسّن.',
      questions: [
        { text: 'هل حُلّت مشكلتك؟', options: ['نعم', 'جزئيًا', 'لا'] },
        {
          text: 'ما مدى رضاك عن الوقت الذي استغرقه الأمر؟',
          min_label: 'غير راضٍ إطلاقًا',
          max_label: 'راضٍ جدًا',
        },
      ],
    },
    effort: {
      question_text: `ما مدى سهولة حصولك على ما تحتاجه من ${organization}؟`,
      subject: 'هل سهّلنا عليك الأمر؟',
      follow_up: 'ما الذي كان سهلًا أو صعبًا؟',
      thanks: 'شكرًا لك! إجابتك تبيّن لنا ما ينبغي تبسيطه.',
      questions: [
        {
          text: 'ما الذي تطلّب أكبر جهد؟',
          options: ['العثور على المعلومات', 'ملء النماذج', 'انتظار الرد', 'مشكلات تقنية'],
        },
      ],
    },
    delivery: {
      question_text: 'كيف كان توصيل طلبك؟',
      subject: 'توصيل طلبك: كيف كان؟',
      follow_up: 'ما الذي سار جيدًا، وما الذي لم يسر جيدًا؟',
      thanks: 'شكرًا لك! إجابتك تساعدنا على تحسين التوصيل.',
      questions: [
        { text: 'متى وصل طلبك؟', options: ['أبكر من المتوقع', 'في الموعد', 'متأخرًا'] },
        { text: 'كيف كان التغليف؟', min_label: 'سيئ', max_label: 'ممتاز' },
      ],
    },
    website: {
      question_text: 'هل كانت هذه الصفحة مفيدة؟',
      subject: 'سؤال واحد عن موقعنا',
      follow_up: 'ما الذي كان ناقصًا أو غير واضح؟',
      thanks: 'شكرًا لك! إجابتك تساعدنا على تحسين موقعنا.',
      questions: [
        {
          text: 'ما الذي جاء بك إلى هذه الصفحة؟',
          options: ['البحث عن معلومات', 'مقارنة المنتجات', 'الحصول على مساعدة', 'شراء شيء ما'],
        },
      ],
    },
    employees: {
      question_text: `ما مدى احتمال أن توصي بـ ${organization} كمكان للعمل؟`,
      subject: `هل توصي بـ ${organization} كمكان للعمل؟`,
      follow_up: 'ما الذي ينبغي أن نحافظ عليه، وما الذي ينبغي أن نغيّره؟',
      thanks: 'شكرًا لك! إجابتك تساعدنا على أن نكون مكانًا أفضل للعمل.',
      questions: [
        {
          text: 'ما الذي ينبغي أن نحسّنه أولًا؟',
          options: [
            'الأجور والمزايا',
            'عبء العمل',
            'القيادة',
            'فرص التطور المهني',
            'العمل الجماعي',
          ],
        },
        {
          text: 'أحصل على الدعم الذي أحتاجه لأداء عملي جيدًا.',
          min_label: 'لا أوافق إطلاقًا',
          max_label: 'أوافق تمامًا',
        },
      ],
    },
  }),
};
