/** The service's defaults, except for the rate limit, because tests send more requests than clients may. */
export const testSettings = {
  rateLimit: 1_000_000,
  sendDeadlineSeconds: 60,
  serviceName: 'Service',
  bounceDomain: 'bounces.example',
  maxContacts: 1000,
  traceUrl: null,
  signIn: { byPassword: true, oidc: null },
};
