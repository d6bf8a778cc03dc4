import type { Texts } from './en.ts';

export const pl: Texts = {
  likelihood: ['Bardzo mało prawdopodobne', 'Bardzo prawdopodobne'],
  ease: ['Bardzo trudno', 'Bardzo łatwo'],
  satisfaction: ['Bardzo źle', 'Źle', 'Neutralnie', 'Dobrze', 'Bardzo dobrze'],
  quality: ['Źle', 'Doskonale'],
  thumbs: ['Kciuk w dół', 'Kciuk w górę'],
  stars: (count) => `${count} ${count === 1 ? 'gwiazdka' : count < 5 ? 'gwiazdki' : 'gwiazdek'}`,
  scoreOf: (score, highest) => `${score} na ${highest}`,

  comment: 'Jaki jest główny powód tej oceny?',
  optional: 'opcjonalnie',
  send: 'Wyślij odpowiedź',
  chosen: 'Ocena jest wybrana. Teraz proszę ją wysłać.',
  scoreMissing: 'Najpierw proszę wybrać ocenę.',
  commentTooLong: (most) => `Proszę skrócić komentarz do ${most} znaków.`,
  tooManyAnswers:
    'W tej chwili z tej sieci przychodzi wiele odpowiedzi. Proszę odczekać minutę i wysłać ponownie.',
  notSaved: 'Nie udało się zapisać odpowiedzi. Proszę wysłać ją ponownie.',
  leaveEmpty: 'Proszę zostawić to pole puste',
  doNotFollow: 'Proszę nie otwierać tego linku',

  thanks: {
    title: 'Dziękujemy!',
    text: (organization) => `Odpowiedź dotarła do ${organization}.`,
  },
  answered: {
    title: 'Odpowiedź już jest',
    text: (organization, when) => `Oto odpowiedź dla ${organization} z dnia ${when}.`,
  },
  yourScore: 'Ocena',
  yourComment: 'Komentarz',
  questions: {
    send: 'Wyślij',
    finish: 'Zakończ bez odpowiedzi',
    other: 'Inne',
    several: 'Można wybrać kilka odpowiedzi',
    missing: 'Proszę odpowiedzieć na to pytanie.',
    notSaved: 'Nie udało się zapisać odpowiedzi. Proszę je sprawdzić i wysłać ponownie.',
    saved: 'Zapisano',
  },
  closed: {
    title: 'Ta ankieta jest zakończona',
    text: (organization) =>
      `${organization} nie zbiera tu już odpowiedzi. Dziękujemy za chęć udziału.`,
  },
  draft: {
    title: 'Ta ankieta nie jest jeszcze otwarta',
    text: (organization) =>
      `${organization} jeszcze ją przygotowuje. Prosimy wrócić nieco później.`,
  },
  notFound: {
    title: 'Tu nie ma ankiety',
    text: 'Link może być niepełny. Proszę otworzyć go ponownie z wiadomości e-mail.',
  },
  tooManyRequests: {
    title: 'Chwileczkę',
    text: 'W tej chwili z tej sieci przychodzi wiele żądań. Proszę spróbować ponownie za minutę.',
  },
  tooLarge: {
    title: 'To było za długie',
    text: 'Proszę wrócić, skrócić tekst i wysłać go ponownie.',
  },
  refused: {
    title: 'To się nie udało',
    text: 'Proszę wrócić do poprzedniej strony i spróbować stamtąd ponownie.',
  },
  unavailable: {
    title: 'Zaraz wracamy',
    text: 'Tej strony nie można teraz pokazać. Proszę spróbować ponownie za chwilę.',
  },
  broken: {
    title: 'Coś poszło nie tak',
    text: 'To nie wina czytelnika. Proszę spróbować nieco później.',
  },

  unsubscribe: {
    title: 'Wypisać?',
    text: (email, organization) => `${email} nie otrzyma więcej ankiet od ${organization}.`,
    action: 'Wypisz mnie',
  },
  unsubscribed: {
    title: 'Adres jest wypisany',
    text: (email, organization) => `${email} nie otrzymuje już ankiet od ${organization}.`,
    undo: 'Cofnij',
  },
  resubscribed: {
    title: 'Adres jest znów zapisany',
    text: (email, organization) => `${email} może znów otrzymywać ankiety od ${organization}.`,
  },

  mail: {
    greeting: (name) => (name ? `Dzień dobry, ${name},` : 'Dzień dobry,'),
    preview: 'Wystarczy jedno kliknięcie.',
    hint: 'Proszę wybrać odpowiedź. Na stronie, która się otworzy, można ją zmienić i dodać komentarz.',
    openPage: 'Otwórz ankietę w przeglądarce',
    whyCustomer: (organization) => `Ta wiadomość przyszła, bo ${organization} chce poznać opinię.`,
    whyEmployee: (organization) =>
      `Ta wiadomość przyszła, bo ${organization} pyta osoby, które tam pracują.`,
    sentTo: (address) => `Wysłano ją na adres ${address}.`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `Jak prawdopodobne jest, że polecą Państwo ${organization} znajomym lub współpracownikom?`,
      subject: `Czy poleciliby Państwo ${organization}?`,
      follow_up: {
        promoter: 'Co podoba się Państwu najbardziej?',
        passive: 'Czego brakuje do oceny 10?',
        detractor: 'Co powinniśmy poprawić?',
      },
      thanks: 'Dziękujemy! Państwa odpowiedź pomaga nam się rozwijać.',
      questions: [
        {
          text: 'Co najbardziej wpłynęło na Państwa ocenę?',
          options: ['Jakość', 'Cena', 'Obsługa', 'Łatwość użycia'],
        },
        {
          text: 'Czy możemy skontaktować się z Państwem w sprawie tej odpowiedzi?',
          options: ['Tak', 'Nie'],
        },
      ],
    },
    support: {
      question_text: 'Jak bardzo są Państwo zadowoleni z otrzymanej pomocy?',
      subject: 'Jak oceniają Państwo naszą pomoc?',
      follow_up: 'Co zrobiliśmy dobrze, a co możemy poprawić?',
      thanks: 'Dziękujemy! Państwa odpowiedź pomaga naszemu zespołowi wsparcia.',
      questions: [
        { text: 'Czy Państwa problem został rozwiązany?', options: ['Tak', 'Częściowo', 'Nie'] },
        {
          text: 'Jak bardzo są Państwo zadowoleni z czasu, jaki to zajęło?',
          min_label: 'Wcale niezadowoleni',
          max_label: 'Bardzo zadowoleni',
        },
      ],
    },
    effort: {
      question_text: `Jak łatwo było załatwić sprawę w ${organization}?`,
      subject: 'Czy ułatwiliśmy Państwu sprawę?',
      follow_up: 'Co było łatwe, a co trudne?',
      thanks: 'Dziękujemy! Państwa odpowiedź pokazuje nam, co uprościć.',
      questions: [
        {
          text: 'Co wymagało najwięcej wysiłku?',
          options: [
            'Znalezienie informacji',
            'Wypełnianie formularzy',
            'Czekanie na odpowiedź',
            'Problemy techniczne',
          ],
        },
      ],
    },
    delivery: {
      question_text: 'Jak przebiegła dostawa?',
      subject: 'Państwa dostawa: jak poszło?',
      follow_up: 'Co poszło dobrze, a co nie?',
      thanks: 'Dziękujemy! Państwa odpowiedź pomaga nam ulepszać dostawy.',
      questions: [
        {
          text: 'Kiedy dotarło Państwa zamówienie?',
          options: ['Wcześniej, niż oczekiwano', 'Na czas', 'Z opóźnieniem'],
        },
        { text: 'Jak oceniają Państwo opakowanie?', min_label: 'Słabo', max_label: 'Doskonale' },
      ],
    },
    website: {
      question_text: 'Czy ta strona była pomocna?',
      subject: 'Jedno pytanie o naszą stronę',
      follow_up: 'Czego brakowało lub co było niejasne?',
      thanks: 'Dziękujemy! Państwa odpowiedź pomaga nam ulepszać naszą stronę.',
      questions: [
        {
          text: 'Co sprowadza Państwa na tę stronę?',
          options: ['Szukanie informacji', 'Porównywanie produktów', 'Szukanie pomocy', 'Zakupy'],
        },
      ],
    },
    employees: {
      question_text: `Jak prawdopodobne jest, że polecą Państwo ${organization} jako miejsce pracy?`,
      subject: `Czy poleciliby Państwo ${organization} jako miejsce pracy?`,
      follow_up: 'Co powinniśmy zachować, a co zmienić?',
      thanks: 'Dziękujemy! Państwa odpowiedź pomaga nam tworzyć lepsze miejsce pracy.',
      questions: [
        {
          text: 'Co powinniśmy poprawić w pierwszej kolejności?',
          options: [
            'Wynagrodzenie i świadczenia',
            'Obciążenie pracą',
            'Przywództwo',
            'Możliwości rozwoju',
            'Współpraca w zespole',
          ],
        },
        {
          text: 'Otrzymuję wsparcie, którego potrzebuję, aby dobrze wykonywać swoją pracę.',
          min_label: 'Zdecydowanie się nie zgadzam',
          max_label: 'Zdecydowanie się zgadzam',
        },
      ],
    },
  }),
};
