import { registerHooks } from 'node:module';

/** Imported into a service before it starts, to report when it loads OpenTelemetry's SDK. */
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('@opentelemetry/sdk-node')) process.stderr.write('loads the SDK\n');
    return next(specifier, context);
  },
});
