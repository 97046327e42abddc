// The options that all runs of a store of fingerprints share.
#pragma once

#include "base/result.h"
#include "dedup/options.h"
#include "store/fingerprint.h"

namespace kin::dedup {

// The parameters of a store for runs with these options, whichever kind of run: ingest.h, or
// --signature-store DIR --append. Thread-safe.
store::FingerprintParameters fingerprint_parameters(const DedupOptions& options);

// Refuses a store whose texts came from columns with other names, unless options.other_fields says
// that they are texts of one kind. Thread-safe.
Status check_columns(const store::FingerprintParameters& of_store, const DedupOptions& options);

}  // namespace kin::dedup
