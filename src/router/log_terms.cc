#include "router/log_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace kin::router {

Result<LogEnd> find_end(cloud::ObjectStore& objects) {
  KIN_TRY(const auto names, cloud::list_all(objects, std::string(kLogFolder)));
  LogEnd end;
  for (const std::string& name : names) {
    if (const auto position = position_in(name)) end.last = std::max(end.last, *position);
  }
  if (end.last.term == 0) return end;
  end.term = end.last.term;
  const auto read = [&](const LogPosition& at) -> Result<std::optional<LogObject>> {
    KIN_TRY(const auto bytes, objects.get(log_object_name(at)));
    if (!bytes) return std::optional<LogObject>();
    KIN_TRY(LogObject object, decode_log_object(*bytes));
    return std::optional(std::move(object));
  };
  KIN_TRY(end.begin, read({end.term, 1}));
  if (end.begin && end.begin->kind != LogObject::Kind::kBegin) end.begin.reset();
  KIN_TRY(auto last, read(end.last));
  if (!last || last->kind != LogObject::Kind::kSeal) return end;
  end.dropped = last->next_term == 0;
  end.seal = std::move(last);
  return end;
}

bool LogChain::has(const LogPosition& position) const {
  return std::ranges::none_of(skipped_, [&](const Skipped& one) {
    return position > one.base && position < one.begin;
  });
}

Result<LogChain> LogChain::read(cloud::ObjectStore& objects, const LogPosition& oldest) {
  KIN_TRY(const auto names, cloud::list_all(objects, std::string(kLogFolder)));
  std::set<std::uint64_t, std::greater<>> terms;
  for (const std::string& name : names) {
    const auto position = position_in(name);
    if (position && position->term > oldest.term) terms.insert(position->term);
  }
  // The newest first: a term that was given up does not give others up.
  LogChain chain;
  for (const std::uint64_t term : terms) {
    const LogPosition begin{term, 1};
    if (!chain.has(begin)) continue;
    KIN_TRY(const auto bytes, objects.get(log_object_name(begin)));
    if (!bytes) continue;  // removed: so are the snapshots before it
    KIN_TRY(const LogObject first, decode_log_object(*bytes));
    if (first.kind == LogObject::Kind::kBegin && first.base)
      chain.skipped_.push_back({.base = *first.base, .begin = begin});
  }
  return chain;
}

Result<Sealed> seal_term(cloud::ObjectStore& objects, const LogPosition& after,
                         std::uint64_t next_term, const Hash128& writer, WallTime now) {
  LogObject seal{.kind = LogObject::Kind::kSeal,
                 .position = after,
                 .time = now,
                 .writer = writer,
                 .next_term = next_term};
  for (;;) {
    ++seal.position.number;
    const std::string name = log_object_name(seal.position);
    KIN_TRY(const bool created, objects.create(name, encode(seal)));
    if (created)
      return Sealed{.at = seal.position, .ours = true, .next_term = next_term, .writer = writer};
    KIN_TRY(const auto bytes, objects.get(name));
    if (!bytes) continue;  // removed since; the term goes on behind it
    KIN_TRY(const LogObject there, decode_log_object(*bytes));
    if (there.kind != LogObject::Kind::kSeal) continue;
    return Sealed{.at = seal.position,
                  .ours = there.writer == writer && there.next_term == next_term,
                  .next_term = there.next_term,
                  .writer = there.writer};
  }
}

}  // namespace kin::router
