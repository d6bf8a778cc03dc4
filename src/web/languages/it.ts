import type { Texts } from './en.ts';

export const it: Texts = {
  likelihood: ['Per niente probabile', 'Molto probabile'],
  ease: ['Molto difficile', 'Molto facile'],
  satisfaction: [
    'Molto insoddisfatto',
    'Insoddisfatto',
    'Neutro',
    'Soddisfatto',
    'Molto soddisfatto',
  ],
  quality: ['Scarso', 'Eccellente'],
  thumbs: ['Non mi piace', 'Mi piace'],
  stars: (count) => (count === 1 ? '1 stella' : `${count} stelle`),
  scoreOf: (score, highest) => `${score} su ${highest}`,

  comment: 'Qual è il motivo principale del Suo voto?',
  optional: 'facoltativo',
  send: 'Invia la risposta',
  chosen: 'Il Suo voto è scelto. Ora lo invii.',
  scoreMissing: 'Scelga prima un voto.',
  commentTooLong: (most) => `Accorci il Suo commento a ${most} caratteri.`,
  tooManyAnswers:
    'In questo momento arrivano molte risposte dalla Sua rete. Attenda un minuto e invii di nuovo la Sua.',
  notSaved: 'Non è stato possibile salvare la Sua risposta. La invii di nuovo.',
  leaveEmpty: 'Lasci vuoto questo campo',
  doNotFollow: 'Non segua questo link',

  thanks: {
    title: 'Grazie!',
    text: (organization) => `La Sua risposta è arrivata a ${organization}.`,
  },
  answered: {
    title: 'Ha già risposto',
    text: (organization, when) => `Questa è la Sua risposta a ${organization} del ${when}.`,
  },
  yourScore: 'Il Suo voto',
  yourComment: 'Il Suo commento',
  questions: {
    send: 'Invia',
    finish: 'Termina senza rispondere',
    other: 'Altro',
    several: 'Sono possibili più risposte',
    missing: 'Risponda a questa domanda.',
    notSaved: 'Non è stato possibile salvare le Sue risposte. Le controlli e le invii di nuovo.',
    saved: 'Salvato',
  },
  closed: {
    title: 'Questo sondaggio è chiuso',
    text: (organization) =>
      `${organization} non raccoglie più risposte qui. Grazie per aver voluto dare la Sua.`,
  },
  draft: {
    title: 'Questo sondaggio non è ancora aperto',
    text: (organization) => `${organization} lo sta ancora preparando. Torni un po’ più tardi.`,
  },
  notFound: {
    title: 'Qui non c’è nessun sondaggio',
    text: 'Il link potrebbe essere incompleto. Lo apra di nuovo dalla Sua e-mail.',
  },
  tooManyRequests: {
    title: 'Un momento, per favore',
    text: 'In questo momento arrivano molte richieste dalla Sua rete. Riprovi fra un minuto.',
  },
  tooLarge: {
    title: 'Era troppo lungo',
    text: 'Torni indietro, accorci il testo e lo invii di nuovo.',
  },
  refused: {
    title: 'Non ha funzionato',
    text: 'Torni alla pagina precedente e riprovi da lì.',
  },
  unavailable: {
    title: 'Torniamo subito',
    text: 'Questa pagina non può essere mostrata in questo momento. Riprovi fra poco.',
  },
  broken: {
    title: 'Qui qualcosa è andato storto',
    text: 'Non è colpa Sua. Riprovi un po’ più tardi.',
  },

  unsubscribe: {
    title: 'Annullare l’iscrizione?',
    text: (email, organization) => `${email} non riceverà più sondaggi da ${organization}.`,
    action: 'Annulla l’iscrizione',
  },
  unsubscribed: {
    title: 'La Sua iscrizione è annullata',
    text: (email, organization) => `${email} non riceve più sondaggi da ${organization}.`,
    undo: 'Ripristina',
  },
  resubscribed: {
    title: 'È di nuovo iscritto',
    text: (email, organization) => `${email} può ricevere di nuovo sondaggi da ${organization}.`,
  },

  mail: {
    greeting: (name) => (name ? `Buongiorno ${name},` : 'Buongiorno,'),
    preview: 'Basta un clic per rispondere.',
    hint: 'Scelga la Sua risposta. Nella pagina che si apre potrà modificarla e aggiungere un commento.',
    openPage: 'Apri il sondaggio nel browser',
    whyCustomer: (organization) =>
      `Riceve questa e-mail perché ${organization} vorrebbe conoscere la Sua opinione.`,
    whyEmployee: (organization) =>
      `Riceve questa e-mail perché ${organization} interpella le persone che vi lavorano.`,
    sentTo: (address) => `È stata inviata a ${address}.`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `Con quale probabilità consiglierebbe ${organization} a un amico o collega?`,
      subject: `Consiglierebbe ${organization}?`,
      follow_up: {
        promoter: 'Che cosa apprezza di più?',
        passive: 'Che cosa manca per arrivare a 10?',
        detractor: 'Che cosa dovremmo migliorare?',
      },
      thanks: 'Grazie! La Sua risposta ci aiuta a migliorare.',
      questions: [
        {
          text: 'Che cosa ha influito di più sul Suo voto?',
          options: ['La qualità', 'Il prezzo', 'Il servizio', 'La facilità d’uso'],
        },
        { text: 'Possiamo contattarla in merito alla Sua risposta?', options: ['Sì', 'No'] },
      ],
    },
    support: {
      question_text: 'Quanto è soddisfatto dell’aiuto ricevuto?',
      subject: 'Com’è stata la nostra assistenza?',
      follow_up: 'Che cosa abbiamo fatto bene e che cosa potremmo migliorare?',
      thanks: 'Grazie! La Sua risposta aiuta il nostro team di assistenza a migliorare.',
      questions: [
        { text: 'Il Suo problema è stato risolto?', options: ['Sì', 'In parte', 'No'] },
        {
          text: 'Quanto è soddisfatto del tempo impiegato?',
          min_label: 'Per niente soddisfatto',
          max_label: 'Molto soddisfatto',
        },
      ],
    },
    effort: {
      question_text: `Quanto è stato facile ottenere da ${organization} ciò di cui aveva bisogno?`,
      subject: 'È stato facile per Lei?',
      follow_up: 'Che cosa è stato facile o difficile?',
      thanks: 'Grazie! La Sua risposta ci mostra che cosa semplificare.',
      questions: [
        {
          text: 'Che cosa ha richiesto più impegno?',
          options: [
            'Trovare informazioni',
            'Compilare moduli',
            'Aspettare una risposta',
            'Problemi tecnici',
          ],
        },
      ],
    },
    delivery: {
      question_text: 'Com’è andata la consegna?',
      subject: 'La Sua consegna: com’è andata?',
      follow_up: 'Che cosa è andato bene e che cosa no?',
      thanks: 'Grazie! La Sua risposta ci aiuta a migliorare le consegne.',
      questions: [
        {
          text: 'Quando è arrivato il Suo ordine?',
          options: ['Prima del previsto', 'In orario', 'In ritardo'],
        },
        { text: 'Com’era l’imballaggio?', min_label: 'Scarso', max_label: 'Eccellente' },
      ],
    },
    website: {
      question_text: 'Questa pagina Le è stata utile?',
      subject: 'Una domanda sul nostro sito',
      follow_up: 'Che cosa mancava o non era chiaro?',
      thanks: 'Grazie! La Sua risposta ci aiuta a migliorare il nostro sito.',
      questions: [
        {
          text: 'Che cosa l’ha portata su questa pagina?',
          options: [
            'Cercare informazioni',
            'Confrontare prodotti',
            'Ricevere assistenza',
            'Acquistare qualcosa',
          ],
        },
      ],
    },
    employees: {
      question_text: `Con quale probabilità consiglierebbe ${organization} come posto di lavoro?`,
      subject: `Consiglierebbe ${organization} come posto di lavoro?`,
      follow_up: 'Che cosa dovremmo mantenere e che cosa dovremmo cambiare?',
      thanks: 'Grazie! La Sua risposta ci aiuta a diventare un posto di lavoro migliore.',
      questions: [
        {
          text: 'Che cosa dovremmo migliorare per prima cosa?',
          options: [
            'Stipendio e benefit',
            'Carico di lavoro',
            'Leadership',
            'Opportunità di carriera',
            'Lavoro di squadra',
          ],
        },
        {
          text: 'Ricevo il supporto di cui ho bisogno per svolgere bene il mio lavoro.',
          min_label: 'Per niente d’accordo',
          max_label: 'Pienamente d’accordo',
        },
      ],
    },
  }),
};
