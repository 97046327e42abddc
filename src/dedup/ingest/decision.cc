#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "dedup/ingest.h"

namespace kin::dedup {
namespace {

std::size_t rank_of(const std::string& name, const std::vector<std::string>& order) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), name) - order.begin());
}

// The name of a document for people.
std::string named(const Existing& existing) {
  return existing.source.empty() ? existing.key : existing.source + "/" + existing.key;
}

std::string likeness(const Existing& existing) {
  switch (existing.method) {
    case Method::kExact: return "the same text as";
    case Method::kMinHash:
    case Method::kSimHash: return fmt::format("{:.3f} alike", existing.similarity);
    case Method::kChunk:
      return fmt::format("{:.0f} % of its chunks are in", existing.similarity * 100);
    case Method::kSeen: return "the same document as";
    case Method::kContains: break;
  }
  KIN_UNREACHABLE();
}

}  // namespace

std::string_view name_of(Action action) {
  switch (action) {
    case Action::kKeep: return "keep";
    case Action::kDrop: return "drop";
    case Action::kKeepLink: return "keep_link";
    case Action::kSkip: return "skip";
  }
  KIN_UNREACHABLE();
}

Decision decide(const store::Fingerprint& record, std::span<const Rival> matches,
                std::vector<std::uint32_t> shared_chunks, const Priorities& priorities) {
  Decision decision;
  decision.chunks = std::move(shared_chunks);
  for (const Rival& rival : matches) decision.existing.push_back(rival.existing);
  if (matches.empty()) return decision;
  const Rival& first = matches.front();
  decision.reason = fmt::format("{} {}", likeness(first.existing), named(first.existing));
  if (first.existing.method == Method::kChunk) {
    decision.action = Action::kKeepLink;
    return decision;
  }
  const auto rank = [&](const std::string& type, const std::string& source) {
    return std::tuple(rank_of(type, priorities.types), rank_of(source, priorities.sources));
  };
  if (rank(record.type, record.source) < rank(first.type, first.existing.source)) {
    decision.action = Action::kKeep;
    decision.reason += ", but its type or source is preferred";
    return decision;
  }
  decision.action = Action::kDrop;
  return decision;
}

}  // namespace kin::dedup
