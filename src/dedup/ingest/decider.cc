#include "dedup/ingest/decider.h"

#include <algorithm>
#include <unordered_set>

#include "dedup/ingest/batch_index.h"

namespace kin::dedup {
namespace {

using store::Fingerprint;
using store::Shared;

// Most documents that a decision names.
constexpr std::size_t kMostNamed = 20;

Existing existing_of(const Fingerprint& other, Method method, double similarity) {
  return {other.doc, other.key, other.source, method, similarity};
}

Method method_named(std::string_view name) {
  for (const Method method : {Method::kExact, Method::kMinHash, Method::kSimHash}) {
    if (name == name_of(method)) return method;
  }
  return Method::kSeen;
}

// The action that the entry records.
Action action_of(const store::LedgerEntry& entry) {
  if (entry.outcome == store::Outcome::kRejected) return Action::kDrop;
  return entry.method == name_of(Method::kChunk) ? Action::kKeepLink : Action::kKeep;
}

Decision skipped(std::string reason) {
  Decision decision;
  decision.action = Action::kSkip;
  decision.reason = std::move(reason);
  return decision;
}

// Verified matches first, the most alike first; then matches by chunk.
bool comes_first(const Rival& a, const Rival& b) {
  const auto order = [](const Rival& rival) {
    return std::tuple(rival.existing.method == Method::kChunk, -rival.existing.similarity,
                      rival.existing.doc);
  };
  return order(a) < order(b);
}

void tally(const Fingerprint& record, const Decision& decision, IngestReport& report) {
  report.documents += 1;
  report.decided[static_cast<std::size_t>(decision.action)] += 1;
  if (decision.action == Action::kSkip) return;
  report.chunks += record.chunks.size();
  report.reused_chunks += decision.chunks.size();
  if (decision.existing.empty()) return;
  const Existing& first = decision.existing.front();
  if (decision.action == Action::kDrop) {
    report.dropped_by[static_cast<std::size_t>(first.method)] += 1;
    if (first.source != record.source) report.cross_source += 1;
  } else if (first.method != Method::kChunk) {
    report.preferred += 1;
  }
}

void add_chunks(const std::vector<std::uint32_t>& more, std::vector<std::uint32_t>& chunks) {
  chunks.insert(chunks.end(), more.begin(), more.end());
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
}

}  // namespace

Decider::Decider(const IngestJob& job, const DedupOptions& options, const IngestStores& stores,
                 Clock& clock)
    : job_(job),
      options_(options),
      stores_(stores),
      clock_(clock),
      comparison_(options),
      version_(version_of(stores.fingerprints.parameters())) {}

Result<std::vector<Decision>> Decider::decide_batch(const std::vector<Taken>& batch,
                                                    IngestReport& report) {
  Work work{batch, {}, {}, {}, {}, {}, {}, {}};
  work.decisions.resize(batch.size());
  KIN_RETURN_IF_ERROR(ask_ledger(work, report));
  do {
    KIN_RETURN_IF_ERROR(look_up(work));
    KIN_RETURN_IF_ERROR(compare(work, report));
    KIN_RETURN_IF_ERROR(admit(work, report));
  } while (reopen(work));
  KIN_RETURN_IF_ERROR(record(work));
  std::vector<Decision> decisions;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    tally(batch[i].fingerprint, *work.decisions[i], report);
    decisions.push_back(std::move(*work.decisions[i]));
  }
  return decisions;
}

Status Decider::ask_ledger(Work& work, IngestReport& report) {
  std::vector<DocId> docs;
  for (const Taken& taken : work.batch) docs.push_back(taken.fingerprint.doc);
  KIN_TRY(const auto entries, stores_.ledger.was_processed(docs));
  for (std::size_t i = 0; i < docs.size(); ++i) {
    if (!work.numbers.emplace(docs[i], i).second) {
      work.decisions[i] = skipped("an earlier record has the same id");
      continue;
    }
    if (!entries[i]) continue;
    const store::LedgerEntry& entry = *entries[i];
    const bool mine = entry.run == job_.run && entry.worker == job_.worker &&
                      entry.row == row_number(work.batch[i].row);
    if (!mine) {
      work.decisions[i] = skipped("processed by run " + entry.run);
      continue;
    }
    // An earlier attempt of this run decided.
    report.repeated += 1;
    Decision decision;
    decision.action = action_of(entry);
    decision.reason = entry.reason;
    if (entry.duplicate_of)
      decision.existing.push_back(
          {*entry.duplicate_of, {}, {}, method_named(entry.method), entry.similarity});
    work.decisions[i] = std::move(decision);
  }
  return name_existing(work);
}

// Adds key and source to the documents that only the ledger has named.
Status Decider::name_existing(Work& work) {
  std::vector<DocId> wanted;
  for (const auto& decision : work.decisions) {
    if (decision && !decision->existing.empty()) wanted.push_back(decision->existing[0].doc);
  }
  if (wanted.empty()) return Done{};
  KIN_TRY(const auto documents, stores_.fingerprints.get(wanted));
  std::size_t at = 0;
  for (auto& decision : work.decisions) {
    if (!decision || decision->existing.empty()) continue;
    if (const auto& document = documents[at++]) {
      decision->existing[0].key = document->key;
      decision->existing[0].source = document->source;
    }
  }
  return Done{};
}

bool Decider::reopen(Work& work) const {
  bool any = false;
  for (std::size_t i = 0; i < work.batch.size(); ++i) {
    const Decision& decision = *work.decisions[i];
    if (decision.action != Action::kDrop || decision.existing.empty()) continue;
    if (work.losers.contains(work.batch[i].fingerprint.doc)) continue;
    if (!work.losers.contains(decision.existing.front().doc)) continue;
    work.decisions[i].reset();
    any = true;
  }
  return any;
}

Status Decider::look_up(Work& work) {
  work.compared.clear();
  work.fingerprints.clear();
  for (std::size_t i = 0; i < work.batch.size(); ++i) {
    if (work.decisions[i] || !work.batch[i].has_text) continue;
    work.compared.push_back(i);
    work.fingerprints.push_back(work.batch[i].fingerprint);
  }
  if (work.compared.empty()) return Done{};
  KIN_TRY(work.found, stores_.fingerprints.find(work.fingerprints));
  std::vector<DocId> wanted;
  for (std::size_t i = 0; i < work.compared.size(); ++i) {
    for (const store::Candidate& candidate : work.found.candidates[i])
      wanted.push_back(candidate.doc);
    if (work.found.stored[i]) wanted.push_back(work.fingerprints[i].doc);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  KIN_TRY(auto documents, stores_.fingerprints.get(wanted));
  for (auto& document : documents) {
    // A document that expired or was replaced since it was found is no longer a candidate.
    if (document) work.stored.emplace(document->doc, std::move(*document));
  }
  return Done{};
}

// The order of a stored document that a killed attempt of this run may have admitted.
Decider::Order Decider::order_of(const Work& work, std::size_t number,
                                 const Fingerprint& other) const {
  const auto found = work.numbers.find(other.doc);
  if (found == work.numbers.end() || other.run != job_.run) return Order::kBefore;
  if (found->second > work.compared[number]) return Order::kLater;
  return std::binary_search(work.compared.begin(), work.compared.end(), found->second)
             ? Order::kInBatch
             : Order::kBefore;
}

Result<std::vector<Rival>> Decider::rivals_of(const Work& work, std::size_t number,
                                              const BatchIndex& earlier,
                                              std::vector<std::uint32_t>& chunks,
                                              IngestReport& report) {
  const Fingerprint& mine = work.fingerprints[number];
  std::vector<Rival> rivals;
  const auto meet = [&](const Fingerprint& other, Shared shared,
                        const std::vector<std::uint32_t>& shared_chunks) -> Status {
    if (shared != Shared::kChunk) {
      report.candidates += 1;
      KIN_TRY(const auto likeness, comparison_.between(mine, other));
      if (likeness) {
        report.verified += 1;
        rivals.push_back({existing_of(other, likeness->method, likeness->similarity), other.type});
        return Done{};
      }
    }
    if (shared_chunks.empty()) return Done{};
    const double share =
        static_cast<double>(shared_chunks.size()) / static_cast<double>(mine.chunks.size());
    rivals.push_back({existing_of(other, Method::kChunk, share), other.type});
    add_chunks(shared_chunks, chunks);
    return Done{};
  };
  std::vector<const Fingerprint*> later;
  for (const store::Candidate& candidate : work.found.candidates[number]) {
    const auto other = work.stored.find(candidate.doc);
    if (other == work.stored.end()) continue;
    const Order order = order_of(work, number, other->second);
    if (order == Order::kLater && candidate.shared != Shared::kChunk)
      later.push_back(&other->second);
    if (order != Order::kBefore) continue;
    KIN_RETURN_IF_ERROR(meet(other->second, candidate.shared, candidate.chunks));
  }
  for (const auto& [other, sharing] : earlier.find(mine)) {
    KIN_RETURN_IF_ERROR(meet(work.fingerprints[other], sharing.shared, sharing.chunks));
  }
  // Later records decide only if no other does: then the one they were dropped for lost a race.
  const bool open = std::all_of(rivals.begin(), rivals.end(), [](const Rival& rival) {
    return rival.existing.method == Method::kChunk;
  });
  if (open && !work.found.stored[number]) {
    for (const Fingerprint* other : later) KIN_RETURN_IF_ERROR(meet(*other, Shared::kBand, {}));
  }
  std::sort(rivals.begin(), rivals.end(), comes_first);
  if (rivals.size() > kMostNamed) rivals.resize(kMostNamed);
  return rivals;
}

Status Decider::compare(Work& work, IngestReport& report) {
  std::size_t keys = 0;
  for (const Fingerprint& one : work.fingerprints) keys += 2 + one.bands.size() + one.chunks.size();
  BatchIndex earlier(options_.hamming, keys);
  for (std::size_t i = 0; i < work.compared.size(); ++i) {
    const Fingerprint& mine = work.fingerprints[i];
    auto& decision = work.decisions[work.compared[i]];
    const auto stored = work.stored.find(mine.doc);
    const bool admitted = work.found.stored[i] && stored != work.stored.end();
    if (admitted && stored->second.run != job_.run) {
      decision = skipped("stored by run " + stored->second.run);
      continue;
    }
    std::vector<std::uint32_t> chunks;
    KIN_TRY(const auto rivals, rivals_of(work, i, earlier, chunks, report));
    decision = decide(mine, rivals, std::move(chunks), job_.priorities);
    // A killed attempt of this run admitted it, but did not record it: so it came first.
    if (admitted && decision->action == Action::kDrop) decision = Decision{};
    if (decision->action != Action::kDrop) earlier.add(i, mine);
  }
  for (std::size_t i = 0; i < work.batch.size(); ++i) {
    if (work.decisions[i]) continue;
    report.without_text += 1;
    work.decisions[i] = Decision{};
  }
  return Done{};
}

bool Decider::is_preferred(const Fingerprint& mine, const Fingerprint& theirs) const {
  const Rival rival{existing_of(theirs, Method::kMinHash, 1), theirs.type};
  return decide(mine, std::span(&rival, 1), {}, job_.priorities).action == Action::kKeep;
}

Status Decider::admit(Work& work, IngestReport& report) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < work.compared.size(); ++i) {
    const Action action = work.decisions[work.compared[i]]->action;
    if (action == Action::kKeep || action == Action::kKeepLink) chosen.push_back(i);
  }
  if (chosen.empty()) return Done{};
  const auto judge = [&](const Fingerprint& mine, const Fingerprint& theirs) -> Result<bool> {
    if (is_preferred(mine, theirs)) return false;
    KIN_TRY(const auto likeness, comparison_.between(mine, theirs));
    return likeness.has_value();
  };
  KIN_TRY(const auto admissions,
          stores_.fingerprints.admit(work.fingerprints, work.found, chosen, judge));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!admissions[i].lost_to) continue;
    const Fingerprint& mine = work.fingerprints[chosen[i]];
    KIN_TRY(const auto winner, stores_.fingerprints.get(std::span(&*admissions[i].lost_to, 1)));
    Decision lost;
    lost.action = Action::kDrop;
    Existing existing{*admissions[i].lost_to, {}, {}, Method::kMinHash, options_.threshold};
    if (winner[0]) {
      KIN_TRY(const auto likeness, comparison_.between(mine, *winner[0]));
      existing = existing_of(*winner[0], likeness ? likeness->method : Method::kMinHash,
                             likeness ? likeness->similarity : options_.threshold);
    }
    lost.reason = "another worker admitted a duplicate at the same time";
    report.lost_races += 1;
    work.losers.insert(mine.doc);
    lost.existing.push_back(std::move(existing));
    work.decisions[work.compared[chosen[i]]] = std::move(lost);
  }
  return Done{};
}

Status Decider::record(Work& work) {
  std::vector<store::LedgerEntry> entries;
  std::vector<std::size_t> numbers;
  const WallTime now = clock_.now();
  for (std::size_t i = 0; i < work.batch.size(); ++i) {
    const Decision& decision = *work.decisions[i];
    if (decision.action == Action::kSkip) continue;
    const Fingerprint& mine = work.batch[i].fingerprint;
    store::LedgerEntry entry;
    entry.doc = mine.doc;
    entry.key = mine.key;
    entry.source = mine.source;
    entry.run = job_.run;
    entry.worker = job_.worker;
    entry.row = row_number(work.batch[i].row);
    entry.at = now;
    entry.outcome =
        decision.action == Action::kDrop ? store::Outcome::kRejected : store::Outcome::kAccepted;
    entry.reason = decision.reason;
    if (decision.action == Action::kDrop && !decision.existing.empty()) {
      entry.duplicate_of = decision.existing.front().doc;
      entry.method = name_of(decision.existing.front().method);
      entry.similarity = decision.existing.front().similarity;
    }
    if (decision.action == Action::kKeepLink) entry.method = name_of(Method::kChunk);
    entry.version = version_;
    entries.push_back(std::move(entry));
    numbers.push_back(i);
  }
  KIN_TRY(const auto before, stores_.ledger.record_processed(entries));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!before[i]) continue;
    const bool mine = before[i]->run == entries[i].run && before[i]->worker == entries[i].worker &&
                      before[i]->row == entries[i].row;
    // Another worker has recorded the document since it was looked up.
    if (!mine) work.decisions[numbers[i]] = skipped("processed by run " + before[i]->run);
  }
  return Done{};
}

}  // namespace kin::dedup
