#include "store/ledger/format.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/sized_text.h"

namespace kin::store {
namespace {

constexpr std::uint8_t kVersion = 1;

Error damaged() {
  return {Code::kDataLoss, "an entry of the ledger is damaged (restore it from a backup)"};
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAccepted: return "accepted";
    case Outcome::kRejected: return "rejected";
  }
  KIN_UNREACHABLE();
}

Result<Outcome> parse_outcome(std::string_view text) {
  for (const Outcome outcome : {Outcome::kAccepted, Outcome::kRejected}) {
    if (text == name_of(outcome)) return outcome;
  }
  return Error{Code::kInvalidArgument,
               "\"" + std::string(text) + "\" is neither accepted nor rejected"};
}

std::string encode_entry(const LedgerEntry& entry) {
  std::string out(1, static_cast<char>(kVersion));
  out += entry.doc.view();
  append_le(out, entry.at.time_since_epoch().count());
  append_le(out, entry.row);
  append_le(out, entry.similarity);
  append_le(out, entry.outcome);
  append_le(out, static_cast<std::uint8_t>(entry.duplicate_of.has_value()));
  if (entry.duplicate_of) out += entry.duplicate_of->view();
  for (const std::string* text : {&entry.key, &entry.source, &entry.run, &entry.worker,
                                  &entry.reason, &entry.method, &entry.version})
    append_sized(out, *text);
  append_le(out, checksum(out));
  return out;
}

Result<LedgerEntry> decode_entry(std::string_view bytes) {
  const auto body = checked_body(bytes);
  if (!body || body->empty()) return damaged();
  if (static_cast<std::uint8_t>(body->front()) != kVersion) {
    return Error{Code::kFailedPrecondition,
                 "the ledger was written by another version of Kindred (use that version)"};
  }
  ByteReader in(body->substr(1));
  LedgerEntry entry;
  entry.doc.bytes = in.read<std::array<std::uint8_t, 16>>();
  entry.at = WallTime(std::chrono::milliseconds(in.read<std::int64_t>()));
  entry.row = in.read<std::uint64_t>();
  entry.similarity = in.read<double>();
  const auto outcome = in.read<std::uint8_t>();
  const auto linked = in.read<std::uint8_t>();
  if (outcome > static_cast<std::uint8_t>(Outcome::kRejected) || linked > 1) return damaged();
  entry.outcome = Outcome(outcome);
  if (linked == 1) entry.duplicate_of = DocId{in.read<std::array<std::uint8_t, 16>>()};
  for (std::string* text : {&entry.key, &entry.source, &entry.run, &entry.worker, &entry.reason,
                            &entry.method, &entry.version})
    *text = read_sized(in);
  if (!in.ok() || !in.rest().empty()) return damaged();
  return entry;
}

}  // namespace kin::store
