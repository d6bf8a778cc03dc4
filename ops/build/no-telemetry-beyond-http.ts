/**
 * Replaces parts of OpenTelemetry's SDK that `src/telemetry-settings.ts` refuses: gRPC, whose client is larger than
 * askback, and configuration files.
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

/** askback creates its spans itself. */
export const registerInstrumentations = () => {};
