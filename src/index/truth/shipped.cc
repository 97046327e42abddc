// Copies: batches of another truth as changes of this one.
#include <algorithm>

#include "index/truth/entity_format.h"
#include "index/truth/entity_keys.h"
#include "index/truth/truth.h"
#include "kv/shipped_batch.h"

namespace kin::index {

struct Truth::ShippedEffects {
  Lsn after = 0;  // changes up to this one are known
  std::vector<Change> changes = {};
  bool owners = false;
  bool followers = false;
  // The last requests of sessions; nothing: the session was closed.
  std::vector<std::pair<std::uint64_t, std::optional<std::uint64_t>>> sessions = {};
};

Status Truth::learn_shipped(std::string_view bytes, ShippedEffects& effects) {
  const auto learn = [&](const kv::ShippedChange& change) -> Status {
    const auto family = store_->family_of(change.family);
    const bool put = change.kind == kv::ShippedChange::Kind::kPut;
    if (family == kv::kMain) {
      effects.owners |= change.key.starts_with(kOwnersPrefix);
      effects.followers |= change.key.starts_with(kFollowersPrefix);
      if (change.key.starts_with(kSessionsPrefix)) {
        const auto session = decode_session_key(change.key);
        if (!session) return Error{Code::kDataLoss, "a shipped key of sessions is damaged"};
        auto& [number, sequence] = effects.sessions.emplace_back(*session, std::nullopt);
        if (put) {
          KIN_TRY(sequence, decode_session(change.value));
        }
      }
    }
    if (family == kNamesFamily && put) {
      const auto id = decode_name_key(change.key);
      KIN_TRY(const std::string name, decode_name(change.value));
      // A batch that is applied again brings names that are known.
      if (id && static_cast<std::uint32_t>(*id) == names_.size()) names_.add(name);
    }
    if (family == kChangelogFamily && put) {
      const auto lsn = decode_change_key(change.key);
      if (!lsn) return Error{Code::kDataLoss, "a key of a shipped changelog is damaged"};
      if (*lsn <= effects.after) return Done{};
      KIN_TRY(const Change made, decode_change(*lsn, change.value));
      effects.changes.push_back(made);
    }
    return Done{};
  };
  return kv::visit_shipped(bytes, learn);
}

Result<std::vector<Change>> Truth::apply_shipped(std::span<const std::string_view> batches,
                                                 std::string_view position) {
  const std::lock_guard lock(mutex_);
  ShippedEffects effects{.after = counters_.last_lsn};
  kv::Batch batch(*store_);
  for (const std::string_view bytes : batches) {
    // Readers of the batch must know its names, as in write().
    KIN_RETURN_IF_ERROR(learn_shipped(bytes, effects));
    KIN_RETURN_IF_ERROR(kv::add_shipped(bytes, *store_, batch));
  }
  batch.put(kShippedKey, position);
  KIN_RETURN_IF_ERROR(store_->write(batch));
  KIN_TRY(const auto row, store_->get(kCountersKey, kCountersFamily));
  if (row) {
    KIN_TRY(counters_, decode_counters(*row));
  }
  if (effects.owners) KIN_RETURN_IF_ERROR(load_owners());
  if (effects.followers) KIN_RETURN_IF_ERROR(load_followers());
  for (const auto& [session, sequence] : effects.sessions) {
    if (sequence)
      sessions_[session] = *sequence;
    else
      sessions_.erase(session);
  }
  std::ranges::sort(effects.changes, {}, &Change::lsn);
  return std::move(effects.changes);
}

}  // namespace kin::index
