export const sessionTexts = {
  ended: 'Your session has ended. Sign in, and you are back where you were going.',
};
