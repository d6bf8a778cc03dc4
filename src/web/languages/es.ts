import type { Texts } from './en.ts';

export const es: Texts = {
  likelihood: ['Nada probable', 'Muy probable'],
  ease: ['Muy difícil', 'Muy fácil'],
  satisfaction: ['Muy insatisfecho', 'Insatisfecho', 'Neutral', 'Satisfecho', 'Muy satisfecho'],
  quality: ['Malo', 'Excelente'],
  thumbs: ['No me gusta', 'Me gusta'],
  stars: (count) => (count === 1 ? '1 estrella' : `${count} estrellas`),
  scoreOf: (score, highest) => `${score} de ${highest}`,

  comment: '¿Cuál es el motivo principal de su puntuación?',
  optional: 'opcional',
  send: 'Enviar respuesta',
  chosen: 'Su puntuación está elegida. Ahora envíela.',
  scoreMissing: 'Elija primero una puntuación.',
  commentTooLong: (most) => `Acorte su comentario a ${most} caracteres.`,
  tooManyAnswers:
    'En este momento llegan muchas respuestas desde su red. Espere un minuto y vuelva a enviar la suya.',
  notSaved: 'No se ha podido guardar su respuesta. Vuelva a enviarla.',
  leaveEmpty: 'Deje este campo vacío',
  doNotFollow: 'No siga este enlace',

  thanks: {
    title: '¡Gracias!',
    text: (organization) => `Su respuesta ha llegado a ${organization}.`,
  },
  answered: {
    title: 'Ya ha respondido',
    text: (organization, when) => `Esta es su respuesta a ${organization} del ${when}.`,
  },
  yourScore: 'Su puntuación',
  yourComment: 'Su comentario',
  questions: {
    send: 'Enviar',
    finish: 'Terminar sin responder',
    other: 'Otro',
    several: 'Puede elegir varias opciones',
    missing: 'Responda a esta pregunta.',
    notSaved: 'No se han podido guardar sus respuestas. Revíselas y vuelva a enviarlas.',
    saved: 'Guardado',
  },
  closed: {
    title: 'Esta encuesta ha terminado',
    text: (organization) =>
      `${organization} ya no recoge respuestas aquí. Gracias por querer dar la suya.`,
  },
  draft: {
    title: 'Esta encuesta aún no está abierta',
    text: (organization) => `${organization} todavía la está preparando. Vuelva un poco más tarde.`,
  },
  notFound: {
    title: 'Aquí no hay ninguna encuesta',
    text: 'Puede que el enlace esté incompleto. Ábralo de nuevo desde su correo electrónico.',
  },
  tooManyRequests: {
    title: 'Un momento, por favor',
    text: 'En este momento llegan muchas solicitudes desde su red. Vuelva a intentarlo dentro de un minuto.',
  },
  tooLarge: {
    title: 'Era demasiado texto',
    text: 'Vuelva atrás, acorte lo que ha escrito y envíelo de nuevo.',
  },
  refused: {
    title: 'No ha funcionado',
    text: 'Vuelva a la página anterior e inténtelo de nuevo desde allí.',
  },
  unavailable: {
    title: 'Volvemos enseguida',
    text: 'Esta página no se puede mostrar ahora. Vuelva a intentarlo dentro de un momento.',
  },
  broken: {
    title: 'Algo ha fallado aquí',
    text: 'No es culpa suya. Vuelva a intentarlo un poco más tarde.',
  },

  unsubscribe: {
    title: '¿Darse de baja?',
    text: (email, organization) => `${email} no recibirá más encuestas de ${organization}.`,
    action: 'Darse de baja',
  },
  unsubscribed: {
    title: 'Se ha dado de baja',
    text: (email, organization) => `${email} ya no recibe encuestas de ${organization}.`,
    undo: 'Deshacer',
  },
  resubscribed: {
    title: 'Se ha dado de alta de nuevo',
    text: (email, organization) => `${email} puede volver a recibir encuestas de ${organization}.`,
  },

  mail: {
    greeting: (name) => (name ? `Hola, ${name}:` : 'Hola:'),
    preview: 'Basta un clic para responder.',
    hint: 'Elija su respuesta. En la página que se abre podrá cambiarla y añadir un comentario.',
    openPage: 'Abrir la encuesta en el navegador',
    whyCustomer: (organization) =>
      `Recibe este correo porque ${organization} quiere conocer su opinión.`,
    whyEmployee: (organization) =>
      `Recibe este correo porque ${organization} pregunta a las personas que trabajan allí.`,
    sentTo: (address) => `Se ha enviado a ${address}.`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `¿Qué probabilidad hay de que recomiende ${organization} a un amigo o colega?`,
      subject: `¿Recomendaría ${organization}?`,
      follow_up: {
        promoter: '¿Qué es lo que más le gusta?',
        passive: '¿Qué falta para llegar al 10?',
        detractor: '¿Qué deberíamos mejorar?',
      },
      thanks: '¡Gracias! Su respuesta nos ayuda a mejorar.',
      questions: [
        {
          text: '¿Qué ha influido más en su puntuación?',
          options: ['La calidad', 'El precio', 'El servicio', 'La facilidad de uso'],
        },
        {
          text: '¿Podemos ponernos en contacto con usted sobre su respuesta?',
          options: ['Sí', 'No'],
        },
      ],
    },
    support: {
      question_text: '¿Está satisfecho con la ayuda que recibió?',
      subject: '¿Qué le pareció nuestra atención?',
      follow_up: '¿Qué hicimos bien y qué podríamos mejorar?',
      thanks: '¡Gracias! Su respuesta ayuda a mejorar a nuestro equipo de atención.',
      questions: [
        { text: '¿Se ha resuelto su problema?', options: ['Sí', 'En parte', 'No'] },
        {
          text: '¿Está satisfecho con el tiempo que llevó?',
          min_label: 'Nada satisfecho',
          max_label: 'Muy satisfecho',
        },
      ],
    },
    effort: {
      question_text: `¿Con ${organization} le resultó fácil conseguir lo que necesitaba?`,
      subject: '¿Se lo pusimos fácil?',
      follow_up: '¿Qué fue fácil o difícil?',
      thanks: '¡Gracias! Su respuesta nos muestra qué debemos simplificar.',
      questions: [
        {
          text: '¿Qué le exigió más esfuerzo?',
          options: [
            'Encontrar información',
            'Rellenar formularios',
            'Esperar una respuesta',
            'Problemas técnicos',
          ],
        },
      ],
    },
    delivery: {
      question_text: '¿Qué tal fue su entrega?',
      subject: 'Su entrega: ¿qué tal fue?',
      follow_up: '¿Qué salió bien y qué no?',
      thanks: '¡Gracias! Su respuesta nos ayuda a mejorar nuestras entregas.',
      questions: [
        {
          text: '¿Cuándo llegó su pedido?',
          options: ['Antes de lo esperado', 'A tiempo', 'Con retraso'],
        },
        { text: '¿Qué le pareció el embalaje?', min_label: 'Malo', max_label: 'Excelente' },
      ],
    },
    website: {
      question_text: '¿Le ha sido útil esta página?',
      subject: 'Una pregunta sobre nuestro sitio web',
      follow_up: '¿Qué faltaba o no estaba claro?',
      thanks: '¡Gracias! Su respuesta nos ayuda a mejorar nuestro sitio web.',
      questions: [
        {
          text: '¿Qué le trae a esta página?',
          options: ['Buscar información', 'Comparar productos', 'Obtener ayuda', 'Comprar algo'],
        },
      ],
    },
    employees: {
      question_text: `¿Qué probabilidad hay de que recomiende ${organization} como lugar para trabajar?`,
      subject: `¿Recomendaría ${organization} como lugar para trabajar?`,
      follow_up: '¿Qué deberíamos mantener y qué deberíamos cambiar?',
      thanks: '¡Gracias! Su respuesta nos ayuda a ser un mejor lugar para trabajar.',
      questions: [
        {
          text: '¿Qué deberíamos mejorar primero?',
          options: [
            'El salario y los beneficios',
            'La carga de trabajo',
            'El liderazgo',
            'Las oportunidades de desarrollo',
            'El trabajo en equipo',
          ],
        },
        {
          text: 'Recibo el apoyo que necesito para hacer bien mi trabajo.',
          min_label: 'Muy en desacuerdo',
          max_label: 'Muy de acuerdo',
        },
      ],
    },
  }),
};
