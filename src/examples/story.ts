/**
 * One story for all examples of the API document: Acme asks its customers in spring. Ids, times and sums
 * agree with each other, and every example fits its schema.
 */
export const surveyId = '3f6f2a52-7c1e-4d0a-9a55-0c8d7f0b2a11';
export const orgId = '9b1d6e0c-52a4-4f6f-8f0e-7a3c5d2e1b90';
export const contactId = 'c2f0a6de-1b7f-4a53-b7a9-5d6f3e2c1a08';
export const responseId = '5a7e9d31-0f4b-4c92-8e16-2b3d4f5a6c70';
export const summaryId = 'e81c4b7a-6d52-4e39-a0f7-91b2c3d4e5f6';
export const webhookId = 'd4b8f1c6-3a2e-47f5-9c70-8e1f2a3b4c5d';
export const deliveryId = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
export const suppressionId = '1f2e3d4c-5b6a-4978-8695-a4b3c2d1e0f9';
export const campaignId = '8d7c6b5a-4f3e-42d1-8c0b-9a8f7e6d5c4b';
export const erasureId = '2b7d9f31-6c4e-4a85-9d20-7f1e3c5a8b64';
export const token = 'Xq3v9Yb2mNfK8sLw0TzRcA';
export const shareId = 'q7Tz0mWb3YxK9fNs';
export const email = 'ada@example.com';
export const cursor =
  'MjAyNi0wNC0xNFQxMDowMjozMS4xMjM0NTZaIDVhN2U5ZDMxLTBmNGItNGM5Mi04ZTE2LTJiM2Q0ZjVhNmM3MA';
export const answeredAt = '2026-04-14T10:02:31.123Z';
export const summarizedAt = '2026-05-01T00:05:00.000Z';
export const page = { page: 1, limit: 50, total: 1, next_cursor: null };
