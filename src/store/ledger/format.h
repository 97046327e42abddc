// An entry of the ledger as bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/ledger.h"

namespace kin::store {

// Version, fields, checksum.
std::string encode_entry(const LedgerEntry& entry);
// kDataLoss if the bytes are damaged, kFailedPrecondition if they are of another version.
Result<LedgerEntry> decode_entry(std::string_view bytes);

}  // namespace kin::store
