/** The defaults of the service, but for the rate limit: tests ask more often than callers may. */
export const testSettings = {
  rateLimit: 1_000_000,
  sendDeadlineSeconds: 60,
  serviceName: 'Service',
  bounceDomain: 'bounces.example',
  maxContacts: 1000,
  traceUrl: null,
  signIn: { byPassword: true, oidc: null },
};
