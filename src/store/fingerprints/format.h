// A fingerprint as bytes, in two parts: the part read for every candidate, and its text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/fingerprint.h"

namespace kin::store {

// Everything but the text. Version, fields, checksum.
std::string encode_fingerprint(const Fingerprint& fingerprint);
// kDataLoss if the bytes are damaged, kFailedPrecondition if they are of another version.
Result<Fingerprint> decode_fingerprint(std::string_view bytes);
// The keys alone, in place. The same errors.
Result<FingerprintKeys> decode_keys(std::string_view bytes);

// Where a local store's documents from one number on came from: the value of one of its keys.
struct OriginValue {
  std::uint32_t end = 0;  // the number after the last document
  std::string_view name = {};
};
std::string encode_origin(const OriginValue& origin);
// A view into `bytes`. The same errors.
Result<OriginValue> decode_origin(std::string_view bytes);

std::string encode_parameters(const FingerprintParameters& parameters);
Result<FingerprintParameters> decode_parameters(std::string_view bytes);

// An error that names the first setting that differs. Settings that only one of them has are not
// compared: an earlier or later version does not know them. kColumnsSetting is not compared.
Status check_same(const FingerprintParameters& theirs, const FingerprintParameters& ours,
                  std::string_view store);

}  // namespace kin::store
