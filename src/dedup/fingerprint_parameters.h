// The options that all runs of a store of fingerprints share.
#pragma once

#include "dedup/options.h"
#include "store/fingerprint.h"

namespace kin::dedup {

// The parameters of a store for runs with these options, whichever kind of run: ingest.h, or
// --signature-store DIR --append. Thread-safe.
store::FingerprintParameters fingerprint_parameters(const DedupOptions& options);

}  // namespace kin::dedup
