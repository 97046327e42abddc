#include "search/search_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include "base/clock.h"
#include "base/file.h"
#include "index/peek.h"
#include "search/embedding.h"
#include "search/serving/caretaker.h"
#include "search/serving/searcher.h"
#include "search/vectors/corpus_vectors.h"

namespace kin::search {
namespace {

namespace fs = std::filesystem;
using embed::EmbedderKind;

std::string name_of(const Document& document) {
  return fmt::format("document \"{}\"", document.id);
}

Status check_vector(const SpaceConfig& space, const std::vector<float>& vector) {
  if (vector.size() != space.dimension)
    return Error{Code::kInvalidArgument,
                 fmt::format("its vector has {} numbers, and those of the space \"{}\" have {}",
                             vector.size(), space.name, space.dimension)};
  return index::check_vector(space_options(space).space, vector);
}

// A space whose vectors an embedder makes from the documents' texts.
index::SpaceOptions computed_space(const SpaceConfig& config,
                                   std::shared_ptr<const embed::Embedder> embedder,
                                   std::uint64_t generation) {
  index::SpaceOptions space = space_options(config);
  space.space.dimension = embedder->info().dimension;
  space.origin = index::VectorOrigin::kComputed;
  space.source = source_of(std::move(embedder));
  space.generation = generation;
  return space;
}

Error in_use(const fs::path& folder, const Error& error) {
  // The store under the shard says only that its folder is locked.
  if (error.code != Code::kFailedPrecondition) return error;
  return {error.code,
          fmt::format("the index {} cannot be opened: {} (if `kindred serve` has it open, ask "
                      "that, or stop it)",
                      folder.filename().string(), error.message)};
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code ignored;  // files come and go while an index is open
  for (fs::recursive_directory_iterator at(folder, ignored), end; at != end; at.increment(ignored))
    if (at->is_regular_file(ignored)) bytes += at->file_size(ignored);
  return bytes;
}

Result<IndexConfig> config_in(const fs::path& folder) {
  KIN_TRY(const std::string bytes, read_file(folder / kConfigName));
  auto config = decode_config(bytes);
  if (!config) return with_context((folder / kConfigName).string(), config.error());
  return config;
}

}  // namespace

class SearchIndex::State {
 public:
  State(fs::path at, IndexConfig given, OpenOptions how)
      : folder(std::move(at)), config(std::move(given)), options(std::move(how)) {}

  Status open();
  // The shard, for as long as the pointer is held; kFailedPrecondition once it is closed.
  Result<std::shared_ptr<index::Shard>> live() const;
  void wake();
  Status check(const Document& document) const;
  Result<AddReport> add(std::span<const Document> documents);
  Result<StepOutcome> work();
  SearchSettings settings() const;
  Status close();

  const fs::path folder;
  const IndexConfig config;
  const OpenOptions options;
  std::shared_ptr<const embed::Embedder> embedder;  // an embedder that needs no learning
  mutable std::mutex mutex;  // guards `corpus`, and the pointers below against being closed
  CorpusGeneration corpus;
  bool learning_failed = false;  // with as many documents as there were then
  std::uint64_t failed_at = 0;
  std::uint64_t compared_at = 0;  // number of documents when is_outdated() was last asked
  std::condition_variable rested;
  bool at_rest = false;  // no call holds `shard` any more
  std::unique_ptr<index::Shard> opened;
  std::shared_ptr<index::Shard> shard;  // `opened`, held by all running calls
  std::unique_ptr<Caretaker> caretaker;

 private:
  // Leaves a null pointer behind. The object is released without the lock.
  template <typename Pointer>
  Pointer take(Pointer& from) {
    const std::lock_guard lock(mutex);
    return std::move(from);
  }
  Result<std::vector<index::SpaceOptions>> spaces();
  Result<bool> learn_if_due();
  Result<bool> is_learning_due(const CorpusGeneration& now, const index::TruthView& truth);
  Status check_vectors(const Document& document) const;
  // The valid mutations of a document.
  Result<std::vector<index::Mutation>> mutations(const Document& document) const;
  bool embeds_on_the_way() const { return config.embed.kind == EmbedderKind::kHttp; }
};

Result<std::vector<index::SpaceOptions>> SearchIndex::State::spaces() {
  std::vector<index::SpaceOptions> all;
  if (config.embed.kind == EmbedderKind::kCorpus) {
    // Before the first model is learnt the index has no space of its own and is searched by words.
    KIN_TRY(corpus, newest_model(folder));
    if (corpus.model != nullptr)
      all.push_back(computed_space(config.main, corpus.model, corpus.number));
  } else if (config.embed.kind == EmbedderKind::kGiven) {
    all.push_back(space_options(config.main));
  } else if (config.embed.is_opened_by_name()) {
    KIN_TRY(embedder, open_embedder(config, options, Use::kExisting));
    all.push_back(computed_space(config.main, embedder, embedder->info().model_hash));
    // Requests to another machine are expensive, so their vectors are stored with the document.
    if (embeds_on_the_way()) all.back().origin = index::VectorOrigin::kGiven;
  }
  for (const SpaceConfig& space : config.more) all.push_back(space_options(space));
  return all;
}

Status SearchIndex::State::open() {
  index::ShardOptions how{.language = config.language, .near_duplicates = config.dedup};
  KIN_TRY(how.spaces, spaces());
  how.clock = options.clock;
  auto made = index::Shard::open(folder / kShardName, std::move(how));
  if (!made) return in_use(folder, made.error());
  opened = std::move(*made);
  // Every call holds a copy of `shard`. The deleter runs when the last copy is gone, and only tells
  // close() so; `opened` owns the shard.
  shard = {opened.get(), [this](index::Shard*) {
             const std::lock_guard lock(mutex);
             at_rest = true;
             rested.notify_all();
           }};
  if (options.tend)
    caretaker =
        std::make_unique<Caretaker>(*options.clock, [this] { return work(); }, options.on_problem);
  return Done{};
}

Result<std::shared_ptr<index::Shard>> SearchIndex::State::live() const {
  const std::lock_guard lock(mutex);
  if (shard) return shard;
  return Error{Code::kFailedPrecondition,
               fmt::format("the index {} was closed", folder.filename().string())};
}

void SearchIndex::State::wake() {
  const std::lock_guard lock(mutex);
  if (caretaker) caretaker->wake();
}

Result<StepOutcome> SearchIndex::State::work() {
  // Vectors are learnt when the shard has nothing else to do: learning takes longest.
  KIN_TRY(const StepOutcome stepped, shard->step());
  if (stepped.did_work()) return stepped;
  KIN_TRY(const bool learnt, learn_if_due());
  return learnt ? StepOutcome::worked() : stepped;
}

Result<bool> SearchIndex::State::is_learning_due(const CorpusGeneration& now,
                                                 const index::TruthView& truth) {
  const std::uint64_t documents = truth.counters().entities;
  if (has_grown(now, documents)) return true;
  // Comparing documents takes some milliseconds: not after every single one.
  constexpr std::uint64_t kCompareEvery = 32;
  if (documents < compared_at + kCompareEvery) return false;
  compared_at = documents;  // also if it is not outdated: ask again after as many more
  return is_outdated(now, truth);
}

Result<bool> SearchIndex::State::learn_if_due() {
  if (config.embed.kind != EmbedderKind::kCorpus) return false;
  const index::ShardView view = shard->view();
  const std::uint64_t documents = view.truth().counters().entities;
  CorpusGeneration now;
  {
    // Copied, so that the lock is not held while the model is learnt.
    const std::lock_guard lock(mutex);
    now = corpus;
  }
  // Documents that share too few words are tried again when there are twice as many.
  if (learning_failed && documents < 2 * failed_at) return false;
  KIN_TRY(const bool due, is_learning_due(now, view.truth()));
  if (!due) return false;
  auto next = learn(view, config.language, now, folder);
  if (!next && next.error().code == Code::kFailedPrecondition) {
    learning_failed = true;
    failed_at = documents;
    return false;
  }
  if (!next) return next.error();
  // The model is on disk by now. After a crash here, opening finds it and builds its space.
  KIN_RETURN_IF_ERROR(shard->replace_space(computed_space(config.main, next->model, next->number)));
  const std::lock_guard lock(mutex);
  corpus = std::move(*next);
  return true;
}

Status SearchIndex::State::check_vectors(const Document& document) const {
  if (!document.embedding.empty() && config.embed.kind != EmbedderKind::kGiven)
    return Error{Code::kInvalidArgument,
                 fmt::format("it brings an embedding, but the index {} (create one with --dim {} "
                             "for vectors of your own, or leave the column out)",
                             config.has_vectors() ? "makes its own vectors" : "has no vectors",
                             document.embedding.size())};
  if (!document.embedding.empty())
    KIN_RETURN_IF_ERROR(check_vector(config.main, document.embedding));
  for (const index::SpaceVector& vector : document.embeddings) {
    const auto space = std::ranges::find(config.more, vector.space, &SpaceConfig::name);
    if (space == config.more.end())
      return Error{
          Code::kInvalidArgument,
          fmt::format("it brings a vector of a space \"{}\", which the index does not have "
                      "(create one with --space {}:{})",
                      vector.space, vector.space, vector.values.size())};
    KIN_RETURN_IF_ERROR(check_vector(*space, vector.values));
  }
  return Done{};
}

Result<std::vector<index::Mutation>> SearchIndex::State::mutations(const Document& document) const {
  std::vector<index::Mutation> all = mutations_of(document, config.main.name);
  for (const index::Mutation& mutation : all)
    if (const Status sound = index::check(mutation); !sound.ok())
      return with_context(name_of(document), sound.error());
  return all;
}

Status SearchIndex::State::check(const Document& document) const {
  if (const Status fit = check_vectors(document); !fit.ok())
    return with_context(name_of(document), fit.error());
  KIN_TRY(const auto sound, mutations(document));
  return Done{};
}

Result<AddReport> SearchIndex::State::add(std::span<const Document> documents) {
  // Checked before another machine is asked for vectors, which costs and takes time.
  for (const Document& document : documents)
    if (const Status fit = check_vectors(document); !fit.ok())
      return with_context(name_of(document), fit.error());
  std::vector<Document> with_vectors;
  if (embeds_on_the_way()) {
    KIN_TRY(with_vectors, embedded(*embedder, documents));
    documents = with_vectors;
  }
  std::vector<index::Mutation> all;
  std::vector<std::size_t> puts;  // where each document's own mutation is
  for (const Document& document : documents) {
    puts.push_back(all.size());
    KIN_TRY(std::vector<index::Mutation> made, mutations(document));
    std::ranges::move(made, std::back_inserter(all));
  }
  KIN_TRY(const auto live_shard, live());
  KIN_TRY(const index::Applied applied, live_shard->apply(all));
  AddReport report;
  // Links and fragments have outcomes of their own, which do not count.
  for (const std::size_t put : puts)
    report.added += applied.outcomes[put].effect == index::Effect::kDone ? 1 : 0;
  for (const index::Repeat& repeat : applied.repeats) {
    const auto& put = std::get<index::PutEntity>(all[repeat.mutation]);
    auto& list = applied.outcomes[repeat.mutation].effect == index::Effect::kDuplicate
                     ? report.refused
                     : report.linked;
    list.push_back({.id = put.entity.key,
                    .duplicate_of = key_of(live_shard->view(), repeat.of),
                    .similarity = repeat.similarity});
  }
  wake();
  return report;
}

SearchSettings SearchIndex::State::settings() const {
  return {.text = index::text_options({.language = config.language}),
          .alpha = alpha_for(config.embed.kind),
          .clock = options.clock};
}

Status SearchIndex::State::close() {
  take(caretaker).reset();  // first: its thread uses the shard
  if (!take(shard)) return Done{};
  std::unique_ptr<index::Shard> last;
  {
    // Running calls hold the shard and finish first.
    std::unique_lock lock(mutex);
    rested.wait(lock, [this] { return at_rest; });
    last = std::move(opened);
  }
  return last->close();
}

SearchIndex::SearchIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}

SearchIndex::~SearchIndex() {
  const Status lost = state_->close();
  static_cast<void>(lost);
}

Status SearchIndex::create(const fs::path& folder, const IndexConfig& config,
                           const OpenOptions& options) {
  KIN_RETURN_IF_ERROR(search::check(config));
  KIN_TRY(const IndexConfig kept, with_dimension(config, options));
  // The embedder was opened first: an index that cannot be opened is not created.
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return system_error("make", folder, problem.value());
  KIN_TRY(const bool there, file_exists(folder / kConfigName));
  if (there)
    return Error{Code::kFailedPrecondition,
                 fmt::format("there is an index in {} already", folder.string())};
  // The settings make the folder an index, so they are written last.
  KIN_RETURN_IF_ERROR(write_file_atomically(folder / kConfigName, encode(kept)));
  return Done{};
}

Result<std::unique_ptr<SearchIndex>> SearchIndex::open(const fs::path& folder,
                                                       const OpenOptions& options) {
  KIN_TRY(IndexConfig config, config_in(folder));
  std::unique_ptr<SearchIndex> index(
      new SearchIndex(std::make_unique<State>(folder, std::move(config), options)));
  KIN_RETURN_IF_ERROR(index->state_->open());
  return index;
}

Result<IndexInfo> SearchIndex::peek(const fs::path& folder) {
  IndexInfo info{.open = false, .disk_bytes = bytes_below(folder)};
  KIN_TRY(info.config, config_in(folder));
  KIN_TRY(info.stats.counters, index::peek_counters(folder / kShardName));
  info.by_meaning = info.config.embed.kind == EmbedderKind::kCorpus
                        ? has_model(folder)
                        : info.config.embed.is_opened_by_name();
  info.dimension = info.config.main.dimension;
  // A corpus model knows its dimension, and is not read here.
  if (info.by_meaning && info.dimension == 0U) info.dimension = std::nullopt;
  return info;
}

Status SearchIndex::check_closed(const fs::path& folder) {
  const Status closed = index::check_closed(folder / kShardName);
  return closed.ok() ? closed : Status(in_use(folder, closed.error()));
}

const IndexConfig& SearchIndex::config() const {
  return state_->config;
}

Status SearchIndex::check_document(const Document& document) const {
  return state_->check(document);
}

Result<AddReport> SearchIndex::add(std::span<const Document> documents) {
  return state_->add(documents);
}

Result<std::uint64_t> SearchIndex::remove(std::span<const std::string> ids) {
  std::vector<index::Mutation> mutations;
  for (const std::string& id : ids) mutations.emplace_back(index::RemoveEntity{.id = doc_id(id)});
  KIN_TRY(const auto shard, state_->live());
  KIN_TRY(const index::Applied applied, shard->apply(mutations));
  std::uint64_t removed = 0;
  for (const index::Outcome& outcome : applied.outcomes)
    removed += outcome.effect == index::Effect::kDone ? 1 : 0;
  state_->wake();
  return removed;
}

Result<Answer> SearchIndex::search(const Question& question) const {
  KIN_TRY(const auto shard, state_->live());
  return search::answer(shard->view(), state_->settings(), question);
}

Result<std::optional<Document>> SearchIndex::document(std::string_view id,
                                                      std::optional<index::Millis> as_of) const {
  KIN_TRY(const auto shard, state_->live());
  const index::ShardView view = shard->view();
  KIN_TRY(const auto stored, view.truth().get(doc_id(id), {.vectors = false, .as_of = as_of}));
  if (!stored) return std::optional<Document>();
  KIN_TRY(Document document, with_links(view, *stored, as_of));
  return std::optional(std::move(document));
}

Result<Neighbours> SearchIndex::neighbours(const NeighboursQuestion& question) const {
  KIN_TRY(const auto shard, state_->live());
  return search::neighbours(shard->view(), question);
}

Result<std::optional<Path>> SearchIndex::path(const PathQuestion& question) const {
  KIN_TRY(const auto shard, state_->live());
  return find_path(shard->view().truth(), question);
}

Status SearchIndex::each(const std::function<Status(const Document&)>& visit) const {
  KIN_TRY(const auto shard, state_->live());
  const index::ShardView view = shard->view();
  const bool given = config().embed.kind == EmbedderKind::kGiven;
  index::ScanRequest request{.want = {.vectors = given || !config().more.empty()}};
  while (true) {
    KIN_TRY(const index::ScanPage page, view.truth().scan(request));
    for (const index::StoredEntity& stored : page.entities) {
      KIN_TRY(Document document, with_links(view, stored, {}));
      // Vectors that an embedder made are not part of the document, even where they are stored.
      for (const index::SpaceVector& vector : stored.entity.vectors) {
        if (vector.space != config().main.name) {
          document.embeddings.push_back(vector);
        } else if (given) {
          document.embedding = vector.values;
        }
      }
      KIN_RETURN_IF_ERROR(visit(document));
    }
    if (!page.next) return Done{};
    request.after = page.next;
  }
}

IndexInfo SearchIndex::info() const {
  IndexInfo info{.config = config(), .disk_bytes = bytes_below(state_->folder)};
  const auto shard = state_->live();
  if (!shard) return info;
  info.stats = (*shard)->stats();
  const index::ShardView view = (*shard)->view();
  for (const index::SpaceView& space : view.spaces())
    if (space.name == kMainSpace) info.dimension = space.index->space().dimension;
  // A space below 1 is still being filled.
  for (const index::SpaceStats& space : info.stats.spaces) info.building |= space.building < 1;
  // If vectors are given with documents, there is no embedder for the words of a question.
  info.by_meaning = info.config.embed.kind != EmbedderKind::kGiven && info.dimension > 0U;
  return info;
}

Result<index::CheckReport> SearchIndex::check(const std::function<void(double)>& progress) const {
  KIN_TRY(const auto shard, state_->live());
  return shard->check(progress);
}

Status SearchIndex::wait_until_idle(const std::function<bool()>& stop) {
  if (state_->caretaker) return state_->caretaker->wait_until_idle(stop);
  KIN_TRY(const auto shard, state_->live());
  // Without a caretaker the caller's thread does the work.
  while (!(stop && stop())) {
    KIN_TRY(const StepOutcome outcome, state_->work());
    const SteadyTime now = state_->options.clock->steady_now();
    const auto next = outcome.next(now);
    if (!next) break;
    if (*next > now) state_->options.clock->sleep_for(*next - now);
  }
  return Done{};
}

Status SearchIndex::close() {
  return state_->close();
}

}  // namespace kin::search
