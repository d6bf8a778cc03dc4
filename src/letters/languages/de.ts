import type { MailTexts } from './texts.ts';

export const de: MailTexts = {
  language: 'de',
  direction: 'ltr',
  greeting: (name) => (name ? `Guten Tag ${name},` : 'Guten Tag,'),
  preview: 'Ein Klick genügt als Antwort.',
  ends: {
    nps: { lowest: 'sehr unwahrscheinlich', highest: 'sehr wahrscheinlich' },
    csat: { lowest: 'sehr unzufrieden', highest: 'sehr zufrieden' },
    ces: { lowest: 'stimme gar nicht zu', highest: 'stimme voll zu' },
    star5: { lowest: 'schlecht', highest: 'ausgezeichnet' },
    thumbs: { lowest: 'Nein', highest: 'Ja' },
  },
  hint: 'Wählen Sie Ihre Antwort. Auf der Seite, die sich öffnet, können Sie sie ändern und etwas dazu schreiben.',
  openPage: 'Umfrage im Browser öffnen',
  whyCustomer: (organization) =>
    `Sie erhalten diese E-Mail, weil ${organization} wissen möchte, wie zufrieden Sie sind.`,
  whyEmployee: (organization) =>
    `Sie erhalten diese E-Mail, weil ${organization} alle fragt, die dort arbeiten.`,
  sentTo: (address) => `Sie ging an ${address}.`,
  unsubscribe: 'Abmelden',
};
