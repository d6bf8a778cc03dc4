import type { Texts } from './en.ts';

export const nl: Texts = {
  likelihood: ['Zeer onwaarschijnlijk', 'Zeer waarschijnlijk'],
  ease: ['Zeer moeilijk', 'Zeer gemakkelijk'],
  satisfaction: ['Zeer ontevreden', 'Ontevreden', 'Neutraal', 'Tevreden', 'Zeer tevreden'],
  quality: ['Slecht', 'Uitstekend'],
  thumbs: ['Duim omlaag', 'Duim omhoog'],
  stars: (count) => (count === 1 ? '1 ster' : `${count} sterren`),
  scoreOf: (score, highest) => `${score} van ${highest}`,

  comment: 'Wat is de belangrijkste reden voor uw score?',
  optional: 'niet verplicht',
  send: 'Antwoord versturen',
  chosen: 'Uw score is gekozen. Verstuur hem nu.',
  scoreMissing: 'Kies eerst een score.',
  commentTooLong: (most) => `Kort uw opmerking in tot ${most} tekens.`,
  tooManyAnswers:
    'Er komen nu veel antwoorden vanaf uw netwerk. Wacht een minuut en verstuur het uwe opnieuw.',
  notSaved: 'Uw antwoord kon niet worden opgeslagen. Verstuur het opnieuw.',
  leaveEmpty: 'Laat dit veld leeg',
  doNotFollow: 'Volg deze link niet',

  thanks: {
    title: 'Bedankt!',
    text: (organization) => `Uw antwoord is aangekomen bij ${organization}.`,
  },
  answered: {
    title: 'U hebt al geantwoord',
    text: (organization, when) => `Dit is uw antwoord aan ${organization} op ${when}.`,
  },
  yourScore: 'Uw score',
  yourComment: 'Uw opmerking',
  questions: {
    send: 'Versturen',
    finish: 'Afronden zonder antwoord',
    other: 'Anders',
    several: 'Meerdere antwoorden mogelijk',
    missing: 'Beantwoord deze vraag.',
    notSaved: 'Uw antwoorden konden niet worden opgeslagen. Controleer ze en verstuur ze opnieuw.',
    saved: 'Opgeslagen',
  },
  closed: {
    title: 'Deze enquête is gesloten',
    text: (organization) =>
      `${organization} verzamelt hier geen antwoorden meer. Bedankt dat u het uwe wilde geven.`,
  },
  draft: {
    title: 'Deze enquête is nog niet open',
    text: (organization) => `${organization} bereidt hem nog voor. Kom wat later terug.`,
  },
  notFound: {
    title: 'Hier is geen enquête',
    text: 'Misschien is de link onvolledig. Open hem opnieuw vanuit uw e-mail.',
  },
  tooManyRequests: {
    title: 'Een moment, alstublieft',
    text: 'Er komen nu veel verzoeken vanaf uw netwerk. Probeer het over een minuut opnieuw.',
  },
  tooLarge: {
    title: 'Dat was te veel',
    text: 'Ga terug, kort uw tekst in en verstuur hem opnieuw.',
  },
  refused: {
    title: 'Dat is niet gelukt',
    text: 'Ga terug naar de vorige pagina en probeer het daar opnieuw.',
  },
  unavailable: {
    title: 'We zijn zo terug',
    text: 'Deze pagina kan nu niet worden getoond. Probeer het zo dadelijk opnieuw.',
  },
  broken: {
    title: 'Hier ging iets mis',
    text: 'Het ligt niet aan u. Probeer het wat later opnieuw.',
  },

  unsubscribe: {
    title: 'Uitschrijven?',
    text: (email, organization) => `${email} krijgt dan geen enquêtes meer van ${organization}.`,
    action: 'Uitschrijven',
  },
  unsubscribed: {
    title: 'U bent uitgeschreven',
    text: (email, organization) => `${email} krijgt geen enquêtes meer van ${organization}.`,
    undo: 'Ongedaan maken',
  },
  resubscribed: {
    title: 'U bent weer ingeschreven',
    text: (email, organization) => `${email} kan weer enquêtes krijgen van ${organization}.`,
  },

  mail: {
    greeting: (name) => (name ? `Beste ${name},` : 'Goedendag,'),
    preview: 'Eén klik is genoeg om te antwoorden.',
    hint: 'Kies uw antwoord. Op de pagina die opent kunt u het wijzigen en een opmerking toevoegen.',
    openPage: 'De enquête in uw browser openen',
    whyCustomer: (organization) =>
      `U krijgt deze e-mail omdat ${organization} graag uw mening wil weten.`,
    whyEmployee: (organization) =>
      `U krijgt deze e-mail omdat ${organization} de mensen vraagt die er werken.`,
    sentTo: (address) => `Hij is verstuurd naar ${address}.`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `Hoe waarschijnlijk is het dat u ${organization} aanbeveelt aan een vriend of collega?`,
      subject: `Zou u ${organization} aanbevelen?`,
      follow_up: {
        promoter: 'Wat vindt u het beste?',
        passive: 'Wat ontbreekt er nog voor een 10?',
        detractor: 'Wat moeten we beter doen?',
      },
      thanks: 'Bedankt! Uw antwoord helpt ons beter te worden.',
      questions: [
        {
          text: 'Wat had de meeste invloed op uw score?',
          options: ['Kwaliteit', 'Prijs', 'Service', 'Gebruiksgemak'],
        },
        { text: 'Mogen we contact met u opnemen over uw antwoord?', options: ['Ja', 'Nee'] },
      ],
    },
    support: {
      question_text: 'Hoe tevreden bent u over de hulp die u hebt gekregen?',
      subject: 'Hoe was onze hulp?',
      follow_up: 'Wat deden we goed en wat kan beter?',
      thanks: 'Bedankt! Uw antwoord helpt ons supportteam beter te worden.',
      questions: [
        { text: 'Is uw probleem opgelost?', options: ['Ja', 'Deels', 'Nee'] },
        {
          text: 'Hoe tevreden bent u over hoelang het duurde?',
          min_label: 'Helemaal niet tevreden',
          max_label: 'Zeer tevreden',
        },
      ],
    },
    effort: {
      question_text: `Hoe gemakkelijk was het om bij ${organization} te krijgen wat u nodig had?`,
      subject: 'Hoe gemakkelijk hebben we het u gemaakt?',
      follow_up: 'Wat was gemakkelijk of moeilijk?',
      thanks: 'Bedankt! Uw antwoord laat ons zien wat we moeten vereenvoudigen.',
      questions: [
        {
          text: 'Wat kostte de meeste moeite?',
          options: [
            'Informatie vinden',
            'Formulieren invullen',
            'Wachten op een antwoord',
            'Technische problemen',
          ],
        },
      ],
    },
    delivery: {
      question_text: 'Hoe was uw levering?',
      subject: 'Uw levering: hoe is het gegaan?',
      follow_up: 'Wat ging goed en wat niet?',
      thanks: 'Bedankt! Uw antwoord helpt ons onze leveringen te verbeteren.',
      questions: [
        {
          text: 'Wanneer is uw bestelling aangekomen?',
          options: ['Eerder dan verwacht', 'Op tijd', 'Te laat'],
        },
        { text: 'Hoe was de verpakking?', min_label: 'Slecht', max_label: 'Uitstekend' },
      ],
    },
    website: {
      question_text: 'Was deze pagina nuttig?',
      subject: 'Een vraag over onze website',
      follow_up: 'Wat ontbrak of was onduidelijk?',
      thanks: 'Bedankt! Uw antwoord helpt ons onze website te verbeteren.',
      questions: [
        {
          text: 'Wat brengt u op deze pagina?',
          options: ['Informatie zoeken', 'Producten vergelijken', 'Hulp krijgen', 'Iets kopen'],
        },
      ],
    },
    employees: {
      question_text: `Hoe waarschijnlijk is het dat u ${organization} aanbeveelt als werkgever?`,
      subject: `Zou u ${organization} aanbevelen als werkgever?`,
      follow_up: 'Wat moeten we houden en wat moeten we veranderen?',
      thanks: 'Bedankt! Uw antwoord helpt ons een betere werkgever te worden.',
      questions: [
        {
          text: 'Wat moeten we als eerste verbeteren?',
          options: [
            'Salaris en arbeidsvoorwaarden',
            'Werkdruk',
            'Leiderschap',
            'Loopbaankansen',
            'Samenwerking',
          ],
        },
        {
          text: 'Ik krijg de ondersteuning die ik nodig heb om mijn werk goed te doen.',
          min_label: 'Helemaal oneens',
          max_label: 'Helemaal eens',
        },
      ],
    },
  }),
};
