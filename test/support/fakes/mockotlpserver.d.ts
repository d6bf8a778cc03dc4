declare module '@elastic/mockotlpserver' {
  type Options = {
    services: readonly ('http' | 'grpc' | 'ui')[];
    httpHostname: string;
    httpPort: number;
    logLevel: string;
    onTrace?: (request: unknown) => void;
    onMetrics?: (request: unknown) => void;
    onRequest?: (request: unknown) => void;
  };
  export class MockOtlpServer {
    constructor(options: Options);
    httpUrl: URL;
    start(): Promise<void>;
    close(): Promise<void>;
  }
  export function normalizeTrace(request: unknown): unknown;
}
