import type { MailTexts } from './texts.ts';

export const ar: MailTexts = {
  language: 'ar',
  direction: 'rtl',
  greeting: (name) => (name ? `مرحبًا ${name}،` : 'مرحبًا،'),
  preview: 'نقرة واحدة تكفي للإجابة.',
  ends: {
    nps: { lowest: 'غير محتمل إطلاقًا', highest: 'محتمل جدًا' },
    csat: { lowest: 'غير راضٍ إطلاقًا', highest: 'راضٍ جدًا' },
    ces: { lowest: 'لا أوافق إطلاقًا', highest: 'أوافق تمامًا' },
    star5: { lowest: 'سيئ', highest: 'ممتاز' },
    thumbs: { lowest: 'لا', highest: 'نعم' },
  },
  hint: 'اختر إجابتك. في الصفحة التي ستُفتح يمكنك تغييرها وإضافة تعليق.',
  openPage: 'فتح الاستبيان في المتصفح',
  whyCustomer: (organization) => `وصلتك هذه الرسالة لأن ${organization} تود معرفة رأيك.`,
  whyEmployee: (organization) => `وصلتك هذه الرسالة لأن ${organization} تسأل العاملين فيها.`,
  sentTo: (address) => `أُرسلت إلى ${address}.`,
  unsubscribe: 'إلغاء الاشتراك',
};
