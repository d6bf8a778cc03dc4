import type { Texts } from './en.ts';

export const de: Texts = {
  likelihood: ['Sehr unwahrscheinlich', 'Sehr wahrscheinlich'],
  ease: ['Sehr schwierig', 'Sehr einfach'],
  satisfaction: ['Sehr unzufrieden', 'Unzufrieden', 'Neutral', 'Zufrieden', 'Sehr zufrieden'],
  quality: ['Schlecht', 'Ausgezeichnet'],
  thumbs: ['Daumen runter', 'Daumen hoch'],
  stars: (count) => (count === 1 ? '1 Stern' : `${count} Sterne`),
  scoreOf: (score, highest) => `${score} von ${highest}`,

  comment: 'Was ist der wichtigste Grund für Ihre Bewertung?',
  optional: 'freiwillig',
  send: 'Antwort senden',
  chosen: 'Ihre Bewertung ist ausgewählt. Jetzt noch absenden.',
  scoreMissing: 'Bitte wählen Sie zuerst eine Bewertung.',
  commentTooLong: (most) => `Bitte kürzen Sie Ihren Kommentar auf ${most} Zeichen.`,
  tooManyAnswers:
    'Gerade kommen viele Antworten aus Ihrem Netz. Bitte warten Sie eine Minute und senden Sie Ihre noch einmal.',
  notSaved:
    'Ihre Antwort konnte gerade nicht gespeichert werden. Bitte senden Sie sie noch einmal.',
  leaveEmpty: 'Bitte lassen Sie dieses Feld leer',
  doNotFollow: 'Bitte folgen Sie diesem Link nicht',

  thanks: {
    title: 'Vielen Dank!',
    text: (organization) => `Ihre Antwort ist bei ${organization} angekommen.`,
  },
  answered: {
    title: 'Sie haben schon geantwortet',
    text: (organization, when) => `Das haben Sie ${organization} am ${when} mitgeteilt.`,
  },
  yourScore: 'Ihre Bewertung',
  yourComment: 'Ihr Kommentar',
  questions: {
    send: 'Senden',
    finish: 'Ohne Antwort beenden',
    other: 'Sonstiges',
    several: 'Mehrere Antworten möglich',
    missing: 'Bitte beantworten Sie diese Frage.',
    notSaved:
      'Ihre Antworten konnten nicht gespeichert werden. Bitte prüfen Sie sie und senden Sie sie noch einmal.',
    saved: 'Gespeichert',
  },
  closed: {
    title: 'Diese Umfrage ist beendet',
    text: (organization) =>
      `${organization} sammelt hier keine Antworten mehr. Danke, dass Sie Ihre geben wollten.`,
  },
  draft: {
    title: 'Diese Umfrage ist noch nicht offen',
    text: (organization) =>
      `${organization} bereitet sie noch vor. Bitte kommen Sie etwas später wieder.`,
  },
  notFound: {
    title: 'Hier ist keine Umfrage',
    text: 'Vielleicht ist der Link unvollständig. Bitte öffnen Sie ihn noch einmal aus Ihrer E-Mail.',
  },
  tooManyRequests: {
    title: 'Einen Moment, bitte',
    text: 'Gerade kommen viele Anfragen aus Ihrem Netz. Bitte versuchen Sie es in einer Minute noch einmal.',
  },
  tooLarge: {
    title: 'Das war zu viel',
    text: 'Bitte gehen Sie zurück, kürzen Sie Ihren Text und senden Sie ihn noch einmal.',
  },
  refused: {
    title: 'Das hat nicht geklappt',
    text: 'Bitte gehen Sie zur vorigen Seite zurück und versuchen Sie es dort noch einmal.',
  },
  unavailable: {
    title: 'Gleich geht es weiter',
    text: 'Diese Seite kann gerade nicht gezeigt werden. Bitte versuchen Sie es gleich noch einmal.',
  },
  broken: {
    title: 'Hier ist etwas schiefgegangen',
    text: 'Es liegt nicht an Ihnen. Bitte versuchen Sie es etwas später noch einmal.',
  },

  unsubscribe: {
    title: 'Abmelden?',
    text: (email, organization) => `${email} bekommt dann keine Umfragen mehr von ${organization}.`,
    action: 'Abmelden',
  },
  unsubscribed: {
    title: 'Sie sind abgemeldet',
    text: (email, organization) => `${email} bekommt keine Umfragen mehr von ${organization}.`,
    undo: 'Rückgängig machen',
  },
  resubscribed: {
    title: 'Sie sind wieder angemeldet',
    text: (email, organization) => `${email} kann wieder Umfragen von ${organization} bekommen.`,
  },

  mail: {
    greeting: (name) => (name ? `Guten Tag ${name},` : 'Guten Tag,'),
    preview: 'Ein Klick genügt als Antwort.',
    hint: 'Wählen Sie Ihre Antwort. Auf der Seite, die sich öffnet, können Sie sie ändern und etwas dazu schreiben.',
    openPage: 'Umfrage im Browser öffnen',
    whyCustomer: (organization) =>
      `Sie erhalten diese E-Mail, weil ${organization} wissen möchte, wie zufrieden Sie sind.`,
    whyEmployee: (organization) =>
      `Sie erhalten diese E-Mail, weil ${organization} alle fragt, die dort arbeiten.`,
    sentTo: (address) => `Sie ging an ${address}.`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `Wie wahrscheinlich ist es, dass Sie ${organization} weiterempfehlen?`,
      subject: `Würden Sie ${organization} weiterempfehlen?`,
      follow_up: {
        promoter: 'Was gefällt Ihnen am besten?',
        passive: 'Was fehlt noch zur 10?',
        detractor: 'Was sollten wir besser machen?',
      },
      thanks: 'Vielen Dank! Ihre Antwort hilft uns, besser zu werden.',
      questions: [
        {
          text: 'Was hat Ihre Bewertung am meisten beeinflusst?',
          options: ['Qualität', 'Preis', 'Service', 'Einfache Bedienung'],
        },
        { text: 'Dürfen wir Sie zu Ihrer Antwort kontaktieren?', options: ['Ja', 'Nein'] },
      ],
    },
    support: {
      question_text: 'Wie zufrieden sind Sie mit der Hilfe, die Sie erhalten haben?',
      subject: 'Wie war unser Support?',
      follow_up: 'Was war gut, und was können wir besser machen?',
      thanks: 'Vielen Dank! Ihre Antwort hilft unserem Support, besser zu werden.',
      questions: [
        { text: 'Ist Ihr Problem gelöst?', options: ['Ja', 'Teilweise', 'Nein'] },
        {
          text: 'Wie zufrieden sind Sie damit, wie lange es gedauert hat?',
          min_label: 'Gar nicht zufrieden',
          max_label: 'Sehr zufrieden',
        },
      ],
    },
    effort: {
      question_text: `Wie einfach hat es Ihnen ${organization} gemacht, Ihr Anliegen zu erledigen?`,
      subject: 'Wie einfach haben wir es Ihnen gemacht?',
      follow_up: 'Was war einfach, und was war schwierig?',
      thanks: 'Vielen Dank! Ihre Antwort zeigt uns, was wir vereinfachen sollten.',
      questions: [
        {
          text: 'Was war am aufwendigsten?',
          options: [
            'Informationen finden',
            'Formulare ausfüllen',
            'Auf eine Antwort warten',
            'Technische Probleme',
          ],
        },
      ],
    },
    delivery: {
      question_text: 'Wie war Ihre Lieferung?',
      subject: 'Ihre Lieferung: Hat alles geklappt?',
      follow_up: 'Was war gut, und was nicht?',
      thanks: 'Vielen Dank! Ihre Antwort hilft uns, unsere Lieferungen zu verbessern.',
      questions: [
        {
          text: 'Wann ist Ihre Bestellung angekommen?',
          options: ['Früher als erwartet', 'Pünktlich', 'Zu spät'],
        },
        { text: 'Wie war die Verpackung?', min_label: 'Schlecht', max_label: 'Ausgezeichnet' },
      ],
    },
    website: {
      question_text: 'War diese Seite hilfreich?',
      subject: 'Eine Frage zu unserer Website',
      follow_up: 'Was hat gefehlt oder war unklar?',
      thanks: 'Vielen Dank! Ihre Antwort hilft uns, unsere Website zu verbessern.',
      questions: [
        {
          text: 'Was hat Sie auf diese Seite geführt?',
          options: [
            'Informationen suchen',
            'Produkte vergleichen',
            'Hilfe bekommen',
            'Etwas kaufen',
          ],
        },
      ],
    },
    employees: {
      question_text: `Wie wahrscheinlich ist es, dass Sie ${organization} als Arbeitgeber weiterempfehlen?`,
      subject: `Würden Sie ${organization} als Arbeitgeber weiterempfehlen?`,
      follow_up: 'Was sollte so bleiben, und was sollten wir ändern?',
      thanks: 'Vielen Dank! Ihre Antwort hilft uns, ein besserer Arbeitgeber zu werden.',
      questions: [
        {
          text: 'Was sollten wir zuerst verbessern?',
          options: [
            'Gehalt und Zusatzleistungen',
            'Arbeitsbelastung',
            'Führung',
            'Entwicklungsmöglichkeiten',
            'Zusammenarbeit',
          ],
        },
        {
          text: 'Ich bekomme die Unterstützung, die ich für gute Arbeit brauche.',
          min_label: 'Stimme gar nicht zu',
          max_label: 'Stimme voll zu',
        },
      ],
    },
  }),
};
