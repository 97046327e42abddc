// The log of one shard on its way to another, over a channel that loses, duplicates and reorders.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "index/replication.h"

namespace kin::index {

// Holds messages until somebody takes one. One thread only.
template <typename Message>
class LossyChannel {
 public:
  explicit LossyChannel(std::uint64_t seed) : random_(seed) {}

  void send(const Message& message) {
    if (random_.below(4) == 0) return;
    for (std::uint64_t copies = random_.below(5) == 0 ? 2 : 1; copies > 0; --copies)
      under_way_.push_back(message);
  }

  // Any message that is under way; nothing if there is none.
  std::optional<Message> receive() {
    if (under_way_.empty()) return {};
    std::swap(under_way_[random_.below(under_way_.size())], under_way_.back());
    Message message = std::move(under_way_.back());
    under_way_.pop_back();
    return message;
  }

 private:
  Random random_;
  std::vector<Message> under_way_;
};

// Ships the log of `Source` to `Copy`, each a Truth or a Shard. The copy applies pages as they come
// and acknowledges the LSN up to which it has all of them; pages without an acknowledgement are
// sent again. One thread only.
template <typename Source, typename Copy>
class ShippedLog {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::string follower = "copy";
    Lsn after = 0;
    std::optional<std::set<PartitionId>> partitions = {};
  };
  ShippedLog(Source& source, Copy& copy, const Options& options)
      : source_(source),
        copy_(copy),
        options_(options),
        random_(options.seed),
        pages_(options.seed + 1),
        acknowledgements_(options.seed + 2),
        sent_(options.after),
        acknowledged_(options.after),
        applied_(options.after) {}

  Status begin() { return source_.acknowledge(options_.follower, acknowledged_); }

  // Sends a page, or one again, or delivers some message. `view` is of the source.
  Status step(const TruthView& view) {
    switch (random_.below(4)) {
      case 0: return send(view);
      case 1: {
        if (random_.below(8) == 0) sent_ = acknowledged_;
        return send(view);
      }
      case 2: return deliver_page();
      default: return deliver_acknowledgement();
    }
  }

  Lsn acknowledged() const { return acknowledged_; }

 private:
  struct Page {
    Lsn after = 0;
    Lsn up_to = 0;
    std::string bytes = {};
  };

  Status send(const TruthView& view) {
    sent_ = std::max(sent_, acknowledged_);  // acknowledged changes may have been trimmed
    KIN_TRY(const LogPage page, read_log(view, {.after = sent_,
                                                .partitions = options_.partitions,
                                                .limit = 1 + random_.below(12)}));
    if (page.up_to == sent_) {
      sent_ = acknowledged_;
      return Done{};
    }
    pages_.send({.after = sent_, .up_to = page.up_to, .bytes = encode(page.records)});
    sent_ = page.up_to;
    return Done{};
  }

  Status deliver_page() {
    const auto page = pages_.receive();
    if (!page) return Done{};
    KIN_TRY(std::vector<Record> records, decode_records(page->bytes));
    for (std::size_t i = records.size(); i > 1; --i)
      std::swap(records[i - 1], records[random_.below(i)]);
    KIN_TRY([[maybe_unused]] const auto applied, copy_.apply(records));
    Lsn& up_to = received_[page->after];
    up_to = std::max(up_to, page->up_to);
    // Pages may overlap: what they cover counts.
    for (const auto& [after, until] : received_)
      if (after <= applied_) applied_ = std::max(applied_, until);
    std::erase_if(received_, [&](const auto& one) { return one.second <= applied_; });
    acknowledgements_.send(applied_);
    return Done{};
  }

  Status deliver_acknowledgement() {
    const auto lsn = acknowledgements_.receive();
    if (!lsn) return Done{};
    acknowledged_ = std::max(acknowledged_, *lsn);
    return source_.acknowledge(options_.follower, *lsn);
  }

  Source& source_;
  Copy& copy_;
  Options options_;
  Random random_;
  LossyChannel<Page> pages_;
  LossyChannel<Lsn> acknowledgements_;
  Lsn sent_;
  Lsn acknowledged_;
  Lsn applied_;                  // all pages up to here are applied
  std::map<Lsn, Lsn> received_;  // pages beyond that, by where they begin
};

}  // namespace kin::index
