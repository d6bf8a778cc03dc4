import type { Texts } from './en.ts';

export const fr: Texts = {
  likelihood: ['Pas du tout probable', 'Très probable'],
  ease: ['Très difficile', 'Très facile'],
  satisfaction: ['Très insatisfait', 'Insatisfait', 'Neutre', 'Satisfait', 'Très satisfait'],
  quality: ['Mauvais', 'Excellent'],
  thumbs: ['Je n’aime pas', 'J’aime'],
  stars: (count) => (count === 1 ? '1 étoile' : `${count} étoiles`),
  scoreOf: (score, highest) => `${score} sur ${highest}`,

  comment: 'Quelle est la raison principale de votre note ?',
  optional: 'facultatif',
  send: 'Envoyer la réponse',
  chosen: 'Votre note est choisie. Il reste à l’envoyer.',
  scoreMissing: 'Veuillez d’abord choisir une note.',
  commentTooLong: (most) => `Veuillez raccourcir votre commentaire à ${most} caractères.`,
  tooManyAnswers:
    'Beaucoup de réponses arrivent de votre réseau en ce moment. Veuillez patienter une minute, puis renvoyer la vôtre.',
  notSaved: 'Votre réponse n’a pas pu être enregistrée. Veuillez la renvoyer.',
  leaveEmpty: 'Veuillez laisser ce champ vide',
  doNotFollow: 'Veuillez ne pas suivre ce lien',

  thanks: {
    title: 'Merci !',
    text: (organization) => `Votre réponse est bien parvenue à ${organization}.`,
  },
  answered: {
    title: 'Vous avez déjà répondu',
    text: (organization, when) => `Voici votre réponse à ${organization} du ${when}.`,
  },
  yourScore: 'Votre note',
  yourComment: 'Votre commentaire',
  questions: {
    send: 'Envoyer',
    finish: 'Terminer sans répondre',
    other: 'Autre',
    several: 'Plusieurs réponses possibles',
    missing: 'Veuillez répondre à cette question.',
    notSaved: 'Vos réponses n’ont pas pu être enregistrées. Veuillez les vérifier et les renvoyer.',
    saved: 'Enregistré',
  },
  closed: {
    title: 'Ce sondage est terminé',
    text: (organization) =>
      `${organization} ne recueille plus de réponses ici. Merci d’avoir voulu donner la vôtre.`,
  },
  draft: {
    title: 'Ce sondage n’est pas encore ouvert',
    text: (organization) => `${organization} le prépare encore. Veuillez revenir un peu plus tard.`,
  },
  notFound: {
    title: 'Il n’y a pas de sondage ici',
    text: 'Le lien est peut-être incomplet. Veuillez l’ouvrir à nouveau depuis votre e-mail.',
  },
  tooManyRequests: {
    title: 'Un instant, s’il vous plaît',
    text: 'Beaucoup de demandes arrivent de votre réseau en ce moment. Veuillez réessayer dans une minute.',
  },
  tooLarge: {
    title: 'C’était trop long',
    text: 'Veuillez revenir en arrière, raccourcir votre texte et le renvoyer.',
  },
  refused: {
    title: 'Cela n’a pas fonctionné',
    text: 'Veuillez revenir à la page précédente et réessayer depuis celle-ci.',
  },
  unavailable: {
    title: 'De retour dans un instant',
    text: 'Cette page ne peut pas être affichée pour le moment. Veuillez réessayer bientôt.',
  },
  broken: {
    title: 'Une erreur s’est produite ici',
    text: 'Vous n’y êtes pour rien. Veuillez réessayer un peu plus tard.',
  },

  unsubscribe: {
    title: 'Se désabonner ?',
    text: (email, organization) => `${email} ne recevra plus de sondages de ${organization}.`,
    action: 'Se désabonner',
  },
  unsubscribed: {
    title: 'Vous êtes désabonné',
    text: (email, organization) => `${email} ne reçoit plus de sondages de ${organization}.`,
    undo: 'Annuler',
  },
  resubscribed: {
    title: 'Vous êtes de nouveau abonné',
    text: (email, organization) =>
      `${email} peut recevoir de nouveau des sondages de ${organization}.`,
  },

  mail: {
    greeting: (name) => (name ? `Bonjour ${name},` : 'Bonjour,'),
    preview: 'Un clic suffit pour répondre.',
    hint: 'Choisissez votre réponse. Sur la page qui s’ouvre, vous pourrez la modifier et ajouter un commentaire.',
    openPage: 'Ouvrir le sondage dans le navigateur',
    whyCustomer: (organization) =>
      `Vous recevez cet e-mail parce que ${organization} aimerait connaître votre avis.`,
    whyEmployee: (organization) =>
      `Vous recevez cet e-mail parce que ${organization} interroge les personnes qui y travaillent.`,
    sentTo: (address) => `Il a été envoyé à ${address}.`,
  },

  templates: (organization) => ({
    nps: {
      question_text: `Quelle est la probabilité que vous recommandiez ${organization} à un proche ou à un collègue ?`,
      subject: `Recommanderiez-vous ${organization} ?`,
      follow_up: {
        promoter: 'Qu’appréciez-vous le plus ?',
        passive: 'Que manque-t-il pour mériter un 10 ?',
        detractor: 'Que devrions-nous améliorer ?',
      },
      thanks: 'Merci ! Votre réponse nous aide à progresser.',
      questions: [
        {
          text: 'Qu’est-ce qui a le plus influencé votre note ?',
          options: ['La qualité', 'Le prix', 'Le service', 'La simplicité'],
        },
        {
          text: 'Pouvons-nous vous contacter au sujet de votre réponse ?',
          options: ['Oui', 'Non'],
        },
      ],
    },
    support: {
      question_text: 'Êtes-vous satisfait(e) de l’aide que vous avez reçue ?',
      subject: 'Comment s’est passé votre échange avec notre assistance ?',
      follow_up: 'Qu’avons-nous bien fait, et que pouvons-nous améliorer ?',
      thanks: 'Merci ! Votre réponse aide notre équipe d’assistance à progresser.',
      questions: [
        { text: 'Votre problème est-il résolu ?', options: ['Oui', 'En partie', 'Non'] },
        {
          text: 'Êtes-vous satisfait(e) du temps que cela a pris ?',
          min_label: 'Pas du tout satisfait(e)',
          max_label: 'Très satisfait(e)',
        },
      ],
    },
    effort: {
      question_text: `A-t-il été facile d’obtenir ce dont vous aviez besoin avec ${organization} ?`,
      subject: 'Vous avons-nous facilité la tâche ?',
      follow_up: 'Qu’est-ce qui a été facile ou difficile ?',
      thanks: 'Merci ! Votre réponse nous montre ce qu’il faut simplifier.',
      questions: [
        {
          text: 'Qu’est-ce qui vous a demandé le plus d’efforts ?',
          options: [
            'Trouver des informations',
            'Remplir des formulaires',
            'Attendre une réponse',
            'Des problèmes techniques',
          ],
        },
      ],
    },
    delivery: {
      question_text: 'Comment s’est passée votre livraison ?',
      subject: 'Votre livraison : tout s’est bien passé ?',
      follow_up: 'Qu’est-ce qui s’est bien passé, et qu’est-ce qui s’est moins bien passé ?',
      thanks: 'Merci ! Votre réponse nous aide à améliorer nos livraisons.',
      questions: [
        {
          text: 'Quand votre commande est-elle arrivée ?',
          options: ['Plus tôt que prévu', 'À temps', 'En retard'],
        },
        { text: 'Comment était l’emballage ?', min_label: 'Mauvais', max_label: 'Excellent' },
      ],
    },
    website: {
      question_text: 'Cette page vous a-t-elle été utile ?',
      subject: 'Une question sur notre site',
      follow_up: 'Qu’est-ce qui manquait ou n’était pas clair ?',
      thanks: 'Merci ! Votre réponse nous aide à améliorer notre site.',
      questions: [
        {
          text: 'Qu’est-ce qui vous amène sur cette page ?',
          options: [
            'Chercher des informations',
            'Comparer des produits',
            'Obtenir de l’aide',
            'Faire un achat',
          ],
        },
      ],
    },
    employees: {
      question_text: `Quelle est la probabilité que vous recommandiez ${organization} comme employeur ?`,
      subject: `Recommanderiez-vous ${organization} comme employeur ?`,
      follow_up: 'Que devrions-nous garder, et que devrions-nous changer ?',
      thanks: 'Merci ! Votre réponse nous aide à améliorer la vie au travail.',
      questions: [
        {
          text: 'Que devrions-nous améliorer en premier ?',
          options: [
            'Le salaire et les avantages',
            'La charge de travail',
            'Le management',
            'Les perspectives de carrière',
            'Le travail en équipe',
          ],
        },
        {
          text: 'Je reçois le soutien dont j’ai besoin pour bien faire mon travail.',
          min_label: 'Pas du tout d’accord',
          max_label: 'Tout à fait d’accord',
        },
      ],
    },
  }),
};
