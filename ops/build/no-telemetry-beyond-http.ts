/**
 * Stands in, in the binary, for what OpenTelemetry's SDK brings and askback refuses to be asked for: gRPC, whose
 * client is larger than all of askback, and configuration files. `src/telemetry-settings.ts` says so in words.
 */
const refuse = (): never => {
  throw new Error('this is not part of askback');
};

export class OTLPTraceExporter {
  constructor() {
    refuse();
  }
}

export {
  OTLPTraceExporter as OTLPLogExporter,
  OTLPTraceExporter as OTLPMetricExporter,
  refuse as createEmptyMetadata,
  refuse as createInsecureCredentials,
  refuse as createSslCredentials,
  refuse as mergeHeadersConfig,
  refuse as mergePropagatorCompositeConfig,
  refuse as mergeResourceAttributesConfig,
  refuse as parseConfigFile,
};

/** There is nothing to be instrumented: spans are made by hand. */
export const registerInstrumentations = () => {};
