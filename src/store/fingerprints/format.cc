#include "store/fingerprints/format.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/sized_text.h"

namespace kin::store {
namespace {

// The first byte of a fingerprint, of parameters, and of an origin.
constexpr std::uint8_t kFingerprintVersion = 1;
constexpr std::uint8_t kParametersVersion = 1;
constexpr std::uint8_t kOriginVersion = 1;

enum Flags : std::uint8_t { kHasContent = 1, kHasWords = 2, kHasSimhash = 4 };

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("{} is damaged (run kindred store check; restore the store "
                                       "from a backup)",
                                       what)};
}

// The body after the version byte, or the error.
Result<std::string_view> body_of(std::string_view bytes, std::uint8_t version,
                                 std::string_view what) {
  const auto body = checked_body(bytes);
  if (!body || body->empty()) return damaged(what);
  if (static_cast<std::uint8_t>(body->front()) != version) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} was written by another version of Kindred (use that version, or "
                             "export and import the store with it)",
                             what)};
  }
  return body->substr(1);
}

template <typename T>
void append_list(std::string& out, const std::vector<T>& values) {
  append_le(out, static_cast<std::uint32_t>(values.size()));
  out += as_bytes_view(std::span<const T>(values));
}
template <typename T>
std::vector<T> read_list(ByteReader& in) {
  const auto count = in.read<std::uint32_t>();
  return in.read_vector<T>(count);
}

constexpr std::size_t kTexts = 5;  // key, source, type, language, run

// Reads from the flags to the signature. False if a flag is unknown.
bool read_keys(ByteReader& in, FingerprintKeys& keys) {
  const auto flags = in.read<std::uint8_t>();
  if ((flags & ~(kHasContent | kHasWords | kHasSimhash)) != 0) return false;
  if ((flags & kHasContent) != 0) keys.content = in.read<Hash128>();
  if ((flags & kHasWords) != 0) keys.words = in.read<Hash128>();
  if ((flags & kHasSimhash) != 0) keys.simhash = in.read<std::uint64_t>();
  keys.bands = in.read_bytes(sizeof(std::uint64_t) * in.read<std::uint32_t>());
  keys.signature = in.read_bytes(in.read<std::uint32_t>());
  return in.ok();
}

}  // namespace

std::string version_of(const FingerprintParameters& parameters) {
  // Half of the hash: few parameter sets ever share a store, and the name is in every key.
  return fmt::format("v{}-{:08x}", kFingerprintVersion,
                     static_cast<std::uint32_t>(hash64(encode_parameters(parameters))));
}

Hash128 row_version(const Fingerprint& fingerprint) {
  return hash128(encode_fingerprint(fingerprint));
}

std::string encode_fingerprint(const Fingerprint& fingerprint) {
  std::string out(1, static_cast<char>(kFingerprintVersion));
  out += fingerprint.doc.view();
  append_le(out, fingerprint.created.time_since_epoch().count());
  for (const std::string* text : {&fingerprint.key, &fingerprint.source, &fingerprint.type,
                                  &fingerprint.language, &fingerprint.run})
    append_sized(out, *text);
  std::uint8_t flags = 0;
  if (fingerprint.content) flags |= kHasContent;
  if (fingerprint.words) flags |= kHasWords;
  if (fingerprint.simhash) flags |= kHasSimhash;
  append_le(out, flags);
  if (fingerprint.content) append_le(out, *fingerprint.content);
  if (fingerprint.words) append_le(out, *fingerprint.words);
  if (fingerprint.simhash) append_le(out, *fingerprint.simhash);
  append_list(out, fingerprint.bands);
  append_list(out, fingerprint.signature);
  append_list(out, fingerprint.chunks);
  append_le(out, checksum(out));
  return out;
}

Result<Fingerprint> decode_fingerprint(std::string_view bytes) {
  KIN_TRY(const std::string_view body, body_of(bytes, kFingerprintVersion, "a fingerprint"));
  ByteReader in(body);
  Fingerprint fingerprint;
  fingerprint.doc.bytes = in.read<std::array<std::uint8_t, 16>>();
  fingerprint.created = WallTime(std::chrono::milliseconds(in.read<std::int64_t>()));
  for (std::string* text : {&fingerprint.key, &fingerprint.source, &fingerprint.type,
                            &fingerprint.language, &fingerprint.run})
    *text = read_sized(in);
  FingerprintKeys keys;
  if (!read_keys(in, keys)) return damaged("a fingerprint");
  fingerprint.content = keys.content;
  fingerprint.words = keys.words;
  fingerprint.simhash = keys.simhash;
  fingerprint.bands =
      ByteReader(keys.bands).read_vector<std::uint64_t>(keys.bands.size() / sizeof(std::uint64_t));
  fingerprint.signature.assign(keys.signature.begin(), keys.signature.end());
  fingerprint.chunks = read_list<ChunkHash>(in);
  if (!in.ok() || !in.rest().empty()) return damaged("a fingerprint");
  return fingerprint;
}

Result<FingerprintKeys> decode_keys(std::string_view bytes) {
  KIN_TRY(const std::string_view body, body_of(bytes, kFingerprintVersion, "a fingerprint"));
  ByteReader in(body);
  in.read_bytes(sizeof(DocId));
  FingerprintKeys keys;
  keys.created = WallTime(std::chrono::milliseconds(in.read<std::int64_t>()));
  for (std::size_t i = 0; i < kTexts; ++i) in.read_bytes(in.read<std::uint32_t>());
  if (!read_keys(in, keys)) return damaged("a fingerprint");
  return keys;
}

std::string encode_origin(const OriginValue& origin) {
  std::string out(1, static_cast<char>(kOriginVersion));
  append_le(out, origin.end);
  out += origin.name;
  append_le(out, checksum(out));
  return out;
}

Result<OriginValue> decode_origin(std::string_view bytes) {
  constexpr std::string_view kWhat = "the name of a file of earlier records";
  KIN_TRY(const std::string_view body, body_of(bytes, kOriginVersion, kWhat));
  ByteReader in(body);
  OriginValue origin;
  origin.end = in.read<std::uint32_t>();
  if (!in.ok()) return damaged(kWhat);
  origin.name = in.rest();
  return origin;
}

std::string encode_parameters(const FingerprintParameters& parameters) {
  std::string out(1, static_cast<char>(kParametersVersion));
  append_le(out, static_cast<std::int32_t>(parameters.hamming));
  append_le(out, static_cast<std::uint32_t>(parameters.settings.size()));
  for (const auto& [name, value] : parameters.settings) {
    append_sized(out, name);
    append_sized(out, value);
  }
  append_le(out, checksum(out));
  return out;
}

Result<FingerprintParameters> decode_parameters(std::string_view bytes) {
  constexpr std::string_view kWhat = "the description of the store";
  KIN_TRY(const std::string_view body, body_of(bytes, kParametersVersion, kWhat));
  ByteReader in(body);
  FingerprintParameters parameters;
  parameters.hamming = in.read<std::int32_t>();
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = read_sized(in);
    std::string value = read_sized(in);
    parameters.settings.emplace_back(std::move(name), std::move(value));
  }
  if (!in.ok() || !in.rest().empty()) return damaged(kWhat);
  return parameters;
}

namespace {

// Earlier versions wrote "content:2048" for chunks that are cdc:2048.
bool is_same(std::string_view their, std::string_view our) {
  constexpr std::string_view kOld = "content:";
  constexpr std::string_view kNew = "cdc:";
  if (their.starts_with(kOld) && our.starts_with(kNew))
    return their.substr(kOld.size()) == our.substr(kNew.size());
  return their == our;
}

}  // namespace

Status check_same(const FingerprintParameters& theirs, const FingerprintParameters& ours,
                  std::string_view store) {
  const auto differ = [&](std::string_view name, std::string_view their, std::string_view our) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format("{} was made with {} {}, and this run has {} {} (use the same options, "
                    "or another store)",
                    store, name, their, name, our)};
  };
  for (const auto& [name, value] : ours.settings) {
    if (name == kColumnsSetting) continue;
    const auto their =
        std::ranges::find(theirs.settings, name, &std::pair<std::string, std::string>::first);
    // Stores that earlier versions made have no value for settings that were added later.
    if (their == theirs.settings.end() || is_same(their->second, value)) continue;
    return differ(name, their->second, value);
  }
  if (theirs.hamming != ours.hamming)
    return differ("--hamming", std::to_string(theirs.hamming), std::to_string(ours.hamming));
  return Done{};
}

}  // namespace kin::store
