import type { Texts } from './en.ts';

export const pt: Texts = {
  likelihood: ['Nada provável', 'Muito provável'],
  ease: ['Muito difícil', 'Muito fácil'],
  satisfaction: ['Muito insatisfeito', 'Insatisfeito', 'Neutro', 'Satisfeito', 'Muito satisfeito'],
  quality: ['Ruim', 'Excelente'],
  thumbs: ['Não gostei', 'Gostei'],
  stars: (count) => (count === 1 ? '1 estrela' : `${count} estrelas`),
  scoreOf: (score, highest) => `${score} de ${highest}`,

  comment: 'Qual é o principal motivo da sua nota?',
  optional: 'opcional',
  send: 'Enviar resposta',
  chosen: 'A sua nota está escolhida. Agora envie-a.',
  scoreMissing: 'Escolha primeiro uma nota.',
  commentTooLong: (most) => `Encurte o seu comentário para ${most} caracteres.`,
  tooManyAnswers:
    'Neste momento chegam muitas respostas da sua rede. Aguarde um minuto e envie a sua novamente.',
  notSaved: 'Não foi possível guardar a sua resposta. Envie-a novamente.',
  leaveEmpty: 'Deixe este campo vazio',
  doNotFollow: 'Não siga este link',

  thanks: {
    title: 'Obrigado!',
    text: (organization) => `A sua resposta chegou a ${organization}.`,
  },
  answered: {
    title: 'Já respondeu',
    text: (organization, when) => `Esta é a sua resposta a ${organization} de ${when}.`,
  },
  yourScore: 'A sua nota',
  yourComment: 'O seu comentário',
  questions: {
    send: 'Enviar',
    finish: 'Terminar sem responder',
    other: 'Outro',
    several: 'Pode escolher várias opções',
    missing: 'Responda a esta pergunta.',
    notSaved: 'Não foi possível guardar as suas respostas. Verifique-as e envie-as novamente.',
    saved: 'Guardado',
  },
  closed: {
    title: 'Esta pesquisa terminou',
    text: (organization) =>
      `${organization} já não recolhe respostas aqui. Obrigado por querer dar a sua.`,
  },
  draft: {
    title: 'Esta pesquisa ainda não está aberta',
    text: (organization) => `${organization} ainda a está a preparar. Volte um pouco mais tarde.`,
  },
  notFound: {
    title: 'Não há nenhuma pesquisa aqui',
    text: 'O link pode estar incompleto. Abra-o novamente a partir do seu e-mail.',
  },
  tooManyRequests: {
    title: 'Um momento, por favor',
    text: 'Neste momento chegam muitos pedidos da sua rede. Tente novamente dentro de um minuto.',
  },
  tooLarge: {
    title: 'O texto era longo demais',
    text: 'Volte atrás, encurte o que escreveu e envie novamente.',
  },
  refused: {
    title: 'Não funcionou',
    text: 'Volte à página anterior e tente novamente a partir daí.',
  },
  unavailable: {
    title: 'Voltamos já',
    text: 'Esta página não pode ser mostrada agora. Tente novamente dentro de instantes.',
  },
  broken: {
    title: 'Algo correu mal aqui',
    text: 'A culpa não é sua. Tente novamente um pouco mais tarde.',
  },

  unsubscribe: {
    title: 'Cancelar a inscrição?',
    text: (email, organization) => `${email} não receberá mais pesquisas de ${organization}.`,
    action: 'Cancelar a inscrição',
  },
  unsubscribed: {
    title: 'A sua inscrição foi cancelada',
    text: (email, organization) => `${email} já não recebe pesquisas de ${organization}.`,
    undo: 'Desfazer',
  },
  resubscribed: {
    title: 'Está novamente inscrito',
    text: (email, organization) => `${email} pode receber novamente pesquisas de ${organization}.`,
  },

  mail: {
    greeting: (name) => (name ? `Olá, ${name},` : 'Olá,'),
    preview: 'Basta um clique para responder.',
    hint: 'Escolha a sua resposta. Na página que se abre pode alterá-la e acrescentar um comentário.',
    openPage: 'Abrir a pesquisa no navegador',
    whyCustomer: (organization) =>
      `Recebe este e-mail porque ${organization} gostaria de saber a sua opinião.`,
    whyEmployee: (organization) =>
      `Recebe este e-mail porque ${organization} pergunta às pessoas que lá trabalham.`,
    sentTo: (address) => `Foi enviado para ${address}.`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `Qual é a probabilidade de recomendar ${organization} a um amigo ou colega?`,
      subject: `Recomendaria ${organization}?`,
      follow_up: {
        promoter: 'Do que mais gosta?',
        passive: 'O que falta para chegar ao 10?',
        detractor: 'O que devemos melhorar?',
      },
      thanks: 'Obrigado! A sua resposta ajuda-nos a melhorar.',
      questions: [
        {
          text: 'O que mais influenciou a sua pontuação?',
          options: ['A qualidade', 'O preço', 'O serviço', 'A facilidade de utilização'],
        },
        { text: 'Podemos contactá-lo sobre a sua resposta?', options: ['Sim', 'Não'] },
      ],
    },
    support: {
      question_text: 'Qual é o seu grau de satisfação com a ajuda que recebeu?',
      subject: 'Como foi o nosso apoio?',
      follow_up: 'O que fizemos bem e o que podemos melhorar?',
      thanks: 'Obrigado! A sua resposta ajuda a nossa equipa de apoio a melhorar.',
      questions: [
        { text: 'O seu problema ficou resolvido?', options: ['Sim', 'Em parte', 'Não'] },
        {
          text: 'Qual é o seu grau de satisfação com o tempo que demorou?',
          min_label: 'Nada satisfeito',
          max_label: 'Muito satisfeito',
        },
      ],
    },
    effort: {
      question_text: `Foi fácil conseguir o que precisava com ${organization}?`,
      subject: 'Facilitámos-lhe a tarefa?',
      follow_up: 'O que foi fácil ou difícil?',
      thanks: 'Obrigado! A sua resposta mostra-nos o que devemos simplificar.',
      questions: [
        {
          text: 'O que exigiu mais esforço?',
          options: [
            'Encontrar informação',
            'Preencher formulários',
            'Esperar por uma resposta',
            'Problemas técnicos',
          ],
        },
      ],
    },
    delivery: {
      question_text: 'Como correu a sua entrega?',
      subject: 'A sua entrega: como correu?',
      follow_up: 'O que correu bem e o que não correu?',
      thanks: 'Obrigado! A sua resposta ajuda-nos a melhorar as entregas.',
      questions: [
        {
          text: 'Quando chegou a sua encomenda?',
          options: ['Mais cedo do que o esperado', 'A horas', 'Com atraso'],
        },
        { text: 'Como estava a embalagem?', min_label: 'Má', max_label: 'Excelente' },
      ],
    },
    website: {
      question_text: 'Esta página foi útil?',
      subject: 'Uma pergunta sobre o nosso site',
      follow_up: 'O que faltava ou não era claro?',
      thanks: 'Obrigado! A sua resposta ajuda-nos a melhorar o nosso site.',
      questions: [
        {
          text: 'O que o trouxe a esta página?',
          options: ['Procurar informação', 'Comparar produtos', 'Obter ajuda', 'Comprar algo'],
        },
      ],
    },
    employees: {
      question_text: `Qual é a probabilidade de recomendar ${organization} como local de trabalho?`,
      subject: `Recomendaria ${organization} como local de trabalho?`,
      follow_up: 'O que devemos manter e o que devemos mudar?',
      thanks: 'Obrigado! A sua resposta ajuda-nos a ser um melhor local de trabalho.',
      questions: [
        {
          text: 'O que devemos melhorar primeiro?',
          options: [
            'Salário e benefícios',
            'Carga de trabalho',
            'Liderança',
            'Oportunidades de carreira',
            'Trabalho em equipa',
          ],
        },
        {
          text: 'Recebo o apoio de que preciso para fazer bem o meu trabalho.',
          min_label: 'Discordo totalmente',
          max_label: 'Concordo totalmente',
        },
      ],
    },
  }),
};
