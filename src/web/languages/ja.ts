import type { Texts } from './en.ts';

export const ja: Texts = {
  likelihood: ['まったく思わない', '非常にそう思う'],
  ease: ['とても難しい', 'とても簡単'],
  satisfaction: ['非常に不満', '不満', 'どちらでもない', '満足', '非常に満足'],
  quality: ['悪い', 'とても良い'],
  thumbs: ['良くない', '良い'],
  stars: (count) => `星${count}つ`,
  scoreOf: (score, highest) => `${highest}点中${score}点`,

  comment: 'その点数を選んだ主な理由を教えてください。',
  optional: '任意',
  send: '回答を送信',
  chosen: '点数が選ばれています。送信してください。',
  scoreMissing: '先に点数を選んでください。',
  commentTooLong: (most) => `コメントは${most}文字以内にしてください。`,
  tooManyAnswers:
    'お使いのネットワークから多くの回答が届いています。1分ほど待ってから、もう一度送信してください。',
  notSaved: '回答を保存できませんでした。もう一度送信してください。',
  leaveEmpty: 'この欄には何も入力しないでください',
  doNotFollow: 'このリンクは開かないでください',

  thanks: {
    title: 'ありがとうございました',
    text: (organization) => `ご回答は${organization}に届きました。`,
  },
  answered: {
    title: 'すでに回答済みです',
    text: (organization, when) => `${when}に${organization}へ送られた回答です。`,
  },
  yourScore: '点数',
  yourComment: 'コメント',
  questions: {
    send: '送信',
    finish: '回答せずに終了',
    other: 'その他',
    several: '当てはまるものをすべて選んでください',
    missing: 'この質問にお答えください。',
    notSaved: '回答を保存できませんでした。内容を確認して、もう一度送信してください。',
    saved: '保存しました',
  },
  closed: {
    title: 'このアンケートは終了しました',
    text: (organization) =>
      `${organization}はここでの回答の受付を終了しました。ご協力のお気持ちに感謝いたします。`,
  },
  draft: {
    title: 'このアンケートはまだ始まっていません',
    text: (organization) => `${organization}が準備中です。後ほどもう一度お越しください。`,
  },
  notFound: {
    title: 'アンケートが見つかりません',
    text: 'リンクが途中で切れている可能性があります。メールからもう一度開いてください。',
  },
  tooManyRequests: {
    title: '少々お待ちください',
    text: 'お使いのネットワークから多くのアクセスがあります。1分ほど待ってから、もう一度お試しください。',
  },
  tooLarge: {
    title: '内容が長すぎます',
    text: '前のページに戻り、文章を短くしてからもう一度送信してください。',
  },
  refused: {
    title: '処理できませんでした',
    text: '前のページに戻り、そこからもう一度お試しください。',
  },
  unavailable: {
    title: 'まもなく再開します',
    text: '現在このページを表示できません。しばらくしてからもう一度お試しください。',
  },
  broken: {
    title: 'こちらで問題が発生しました',
    text: 'お客様のせいではありません。後ほどもう一度お試しください。',
  },

  unsubscribe: {
    title: '配信を停止しますか？',
    text: (email, organization) =>
      `${email}には${organization}からのアンケートが届かなくなります。`,
    action: '配信を停止する',
  },
  unsubscribed: {
    title: '配信を停止しました',
    text: (email, organization) => `${email}には${organization}からのアンケートは届きません。`,
    undo: '元に戻す',
  },
  resubscribed: {
    title: '配信を再開しました',
    text: (email, organization) =>
      `${email}に${organization}からのアンケートが再び届くことがあります。`,
  },

  mail: {
    greeting: (name) => (name ? `${name} 様` : 'こんにちは。'),
    preview: 'ワンクリックで回答できます。',
    hint: '回答を選んでください。開いたページで変更したり、コメントを加えたりできます。',
    openPage: 'アンケートをブラウザーで開く',
    whyCustomer: (organization) =>
      `このメールは、${organization}がご意見を伺うためにお送りしています。`,
    whyEmployee: (organization) =>
      `このメールは、${organization}が働く方々に意見を伺うためにお送りしています。`,
    sentTo: (address) => `送信先: ${address}`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `${organization}を友人や同僚に勧める可能性はどのくらいありますか。`,
      subject: `${organization}を勧めたいと思いますか。`,
      follow_up: {
        promoter: '最も気に入っている点は何ですか。',
        passive: '10点になるには何が足りませんか。',
        detractor: '改善すべき点は何ですか。',
      },
      thanks: 'ありがとうございます。いただいた回答を改善に役立てます。',
      questions: [
        {
          text: '点数に最も影響したものは何ですか。',
          options: ['品質', '価格', 'サービス', '使いやすさ'],
        },
        { text: 'ご回答についてご連絡してもよろしいですか。', options: ['はい', 'いいえ'] },
      ],
    },
    support: {
      question_text: '受けられたサポートにどのくらい満足していますか。',
      subject: 'サポートはいかがでしたか。',
      follow_up: '良かった点と、改善できる点を教えてください。',
      thanks: 'ありがとうございます。いただいた回答をサポートの改善に役立てます。',
      questions: [
        { text: '問題は解決しましたか。', options: ['はい', '一部解決した', 'いいえ'] },
        {
          text: '対応にかかった時間にどのくらい満足していますか。',
          min_label: 'まったく満足していない',
          max_label: 'とても満足している',
        },
      ],
    },
    effort: {
      question_text: `${organization}で必要なことはどのくらい簡単にできましたか。`,
      subject: '手続きは簡単でしたか。',
      follow_up: '簡単だった点、難しかった点は何ですか。',
      thanks: 'ありがとうございます。いただいた回答をもとに、より簡単にしてまいります。',
      questions: [
        {
          text: '最も手間がかかったのは何ですか。',
          options: ['情報を探すこと', 'フォームの入力', '返答を待つこと', '技術的な問題'],
        },
      ],
    },
    delivery: {
      question_text: '今回の配送はいかがでしたか。',
      subject: '配送についてお聞かせください',
      follow_up: '良かった点と、良くなかった点を教えてください。',
      thanks: 'ありがとうございます。いただいた回答を配送の改善に役立てます。',
      questions: [
        {
          text: 'ご注文の品はいつ届きましたか。',
          options: ['予定より早く', '予定どおり', '予定より遅く'],
        },
        { text: '梱包はいかがでしたか。', min_label: '悪い', max_label: 'とても良い' },
      ],
    },
    website: {
      question_text: 'このページは役に立ちましたか。',
      subject: 'ウェブサイトについての質問',
      follow_up: '足りなかった点や、わかりにくかった点は何ですか。',
      thanks: 'ありがとうございます。いただいた回答をウェブサイトの改善に役立てます。',
      questions: [
        {
          text: 'このページをご覧になった目的は何ですか。',
          options: ['情報を探すため', '商品を比較するため', 'サポートを受けるため', '購入するため'],
        },
      ],
    },
    employees: {
      question_text: `${organization}を職場として勧める可能性はどのくらいありますか。`,
      subject: `${organization}を職場として勧めたいと思いますか。`,
      follow_up: '続けるべきこと、変えるべきことは何ですか。',
      thanks: 'ありがとうございます。いただいた回答をより良い職場づくりに役立てます。',
      questions: [
        {
          text: '最初に改善すべきことは何ですか。',
          options: ['給与・福利厚生', '仕事量', 'リーダーシップ', 'キャリアの機会', 'チームワーク'],
        },
        {
          text: '仕事をうまく進めるために必要な支援を受けている。',
          min_label: 'まったくそう思わない',
          max_label: 'とてもそう思う',
        },
      ],
    },
  }),
};
