#include "bench/nodes/same.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "bench/nodes/fleet.h"
#include "bench/search/text_collection.h"
#include "router/local_meta_store.h"
#include "router/router.h"
#include "router/shard_host.h"
#include "search/search_index.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;
using search::Document;
using search::Question;

constexpr std::size_t kBatch = 500;
constexpr std::uint32_t kDimension = 100;

// ---- Texts

struct TextSet {
  std::string name = {};
  std::vector<Document> documents = {};
  std::vector<std::string> questions = {};
};

Status make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed) return Done{};
  return Error{Code::kUnavailable, fmt::format("{}: {}", folder.string(), failed.message())};
}

Result<std::vector<TextSet>> read_sets(const SameBench& bench) {
  std::vector<TextSet> sets;
  for (const fs::path& folder : bench.collections) {
    KIN_TRY(TextCollection read, read_collection(folder));
    TextSet& set = sets.emplace_back(TextSet{.name = folder.filename().string()});
    set.documents = std::move(read.documents);
    for (const app::JudgedQuery& query : read.queries) set.questions.push_back(query.text);
  }
  if (!bench.articles) return sets;
  TextSet& set = sets.emplace_back(TextSet{.name = "reuters"});
  KIN_TRY(set.documents, read_articles(*bench.articles));
  for (const auto& words : title_queries(set.documents, static_cast<int>(bench.queries))) {
    std::string& text = set.questions.emplace_back();
    for (const std::string& word : words) text += word + " ";
  }
  return sets;
}

Result<std::unique_ptr<search::SearchIndex>> local_index(const TextSet& set,
                                                         const fs::path& folder) {
  search::IndexConfig config;
  KIN_RETURN_IF_ERROR(search::choose_vectors(config, "none", 0));
  KIN_RETURN_IF_ERROR(search::SearchIndex::create(folder, config, {}));
  KIN_TRY(auto index, search::SearchIndex::open(folder, {.tend = true}));
  for (std::size_t at = 0; at < set.documents.size(); at += kBatch) {
    const std::size_t count = std::min(kBatch, set.documents.size() - at);
    KIN_RETURN_IF_ERROR(index->add({set.documents.data() + at, count}));
  }
  return index;
}

Status fill(Caller& caller, const TextSet& set) {
  KIN_RETURN_IF_ERROR(caller.post("/indexes", R"({"name":"papers","embed":"none"})"));
  for (std::size_t at = 0; at < set.documents.size(); at += kBatch) {
    JsonWriter json;
    json.begin_object().key("documents").begin_array();
    for (std::size_t i = at; i < std::min(set.documents.size(), at + kBatch); ++i)
      search::write_document(json, set.documents[i]);
    KIN_RETURN_IF_ERROR(caller.post("/indexes/papers/documents", json.end().end().take()));
  }
  return Done{};
}

// Everything but the time that it took, which is the last field.
std::string without_time(const std::string& json) {
  return json.substr(0, json.rfind("\"milliseconds\""));
}

Result<SameFigures::Texts> compare(const TextSet& set, const SameBench& bench,
                                   const fs::path& folder) {
  SameFigures::Texts figures{
      .set = set.name, .documents = set.documents.size(), .questions = set.questions.size()};
  KIN_RETURN_IF_ERROR(make_folder(folder));
  KIN_TRY(const auto one, local_index(set, folder / "one"));
  KIN_TRY(const auto fleet, Fleet::start(bench.nodes, folder / "many"));
  Caller caller(fleet->router().port());
  KIN_RETURN_IF_ERROR(fill(caller, set));
  for (const std::string& text : set.questions) {
    Question question{.mode = search::Mode::kText, .text = text, .plain = true};
    question.facets = {"tag", "source", "type"};
    KIN_TRY(const search::Answer expected, one->search(question));
    KIN_TRY(const std::string found,
            caller.post("/indexes/papers/search", search::to_json(question)));
    const std::string wanted = without_time(search::to_json(expected));
    const bool same = without_time(found) == wanted;
    figures.same += same ? 1 : 0;
    if (!same && figures.first_difference.empty())
      figures.first_difference = fmt::format("{}\n{}\n{}", text, wanted, without_time(found));
  }
  return figures;
}

// ---- Vectors

class VectorFile {
 public:
  static Result<VectorFile> read(const SameBench& bench) {
    VectorFile file;
    KIN_TRY(file.bytes_, read_file(*bench.vectors / "glove100.f32"));
    const std::size_t rows = file.bytes_.size() / (kDimension * sizeof(float));
    const std::size_t most = std::min<std::size_t>(rows, bench.most_vectors);
    // One vector in `every` is a question; the others are in the index.
    const std::size_t every = std::max<std::size_t>(2, most / bench.queries);
    for (std::size_t i = 0; i < most; ++i) {
      // Not in the order of the file, in which words are sorted by frequency.
      const std::size_t row = i * 7'919 % rows;
      if (!file.has_direction(row)) continue;
      (i % every == 0 ? file.questions : file.indexed).push_back(row);
    }
    return file;
  }

  std::vector<float> vector(std::size_t row) const {
    std::vector<float> values(kDimension);
    std::memcpy(values.data(), bytes_.data() + row * kDimension * sizeof(float),
                kDimension * sizeof(float));
    return values;
  }

  std::vector<std::size_t> indexed;
  std::vector<std::size_t> questions;

 private:
  bool has_direction(std::size_t row) const {
    return std::ranges::any_of(vector(row), [](float value) { return value != 0; });
  }
  std::string bytes_;
};

index::ShardOptions vector_options() {
  index::ShardOptions options;
  options.spaces = {{.name = "main", .space = {.dimension = kDimension}}};
  return options;
}

std::vector<index::Mutation> batch_of(const VectorFile& file, std::size_t from) {
  std::vector<index::Mutation> batch;
  for (std::size_t i = from; i < std::min(file.indexed.size(), from + kBatch); ++i) {
    index::Entity entity;
    entity.key = fmt::format("{}", file.indexed[i]);
    entity.id = doc_id_of("", entity.key);
    entity.vectors = {{"main", file.vector(file.indexed[i])}};
    batch.emplace_back(index::PutEntity{.entity = std::move(entity)});
  }
  return batch;
}

Status work_off(index::Shard& shard) {
  for (;;) {
    KIN_TRY(const StepOutcome outcome, shard.step());
    if (!outcome.did_work()) return Done{};
  }
}

// Shards of this process behind a router.
struct Cluster {
  std::unique_ptr<router::LocalMetaStore> meta;
  std::vector<std::unique_ptr<router::ShardHost>> hosts;
  std::unique_ptr<router::Router> router;

  router::Connect connect() {
    return [this](const std::string& address) -> std::shared_ptr<router::ShardClient> {
      return std::make_shared<router::LocalClient>(*hosts.at(std::stoul(address)));
    };
  }
};

Status open_cluster(const SameBench& bench, const VectorFile& file, const fs::path& folder,
                    Cluster& cluster) {
  constexpr std::size_t kPartitions = 64;
  constexpr std::size_t kSample = 20'000;
  KIN_TRY(cluster.meta, router::LocalMetaStore::open(folder / "meta", {}));
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < bench.nodes; ++i) {
    addresses.push_back(std::to_string(i));
    KIN_TRY(auto host, router::ShardHost::open(folder / ("shard" + addresses.back()),
                                               vector_options(), hash128(addresses.back())));
    cluster.hosts.push_back(std::move(host));
  }
  std::vector<std::vector<float>> sample;
  const std::size_t every = std::max<std::size_t>(1, file.indexed.size() / kSample);
  for (std::size_t i = 0; i < file.indexed.size(); i += every)
    sample.push_back(file.vector(file.indexed[i]));
  router::NewIndex index{.map = router::spread_partitions("words", addresses, kPartitions)};
  KIN_TRY(index.centroids,
          router::Centroids::train(vector_options().spaces[0], sample,
                                   {.partitions = kPartitions, .shards = bench.nodes}));
  KIN_RETURN_IF_ERROR(router::create_index(*cluster.meta, cluster.connect(), std::move(index)));
  KIN_TRY(cluster.router, router::Router::open("words", *cluster.meta, cluster.connect()));
  return Done{};
}

std::size_t count_common(const std::vector<index::ShardHit>& truth,
                         const std::vector<index::ShardHit>& found) {
  std::size_t common = 0;
  for (const index::ShardHit& hit : truth)
    common += std::ranges::find(found, hit.doc, &index::ShardHit::doc) != found.end() ? 1 : 0;
  return common;
}

Result<SameFigures::Vectors> compare_vectors(const SameBench& bench, const fs::path& folder) {
  KIN_TRY(const VectorFile file, VectorFile::read(bench));
  KIN_RETURN_IF_ERROR(make_folder(folder));
  KIN_TRY(const auto one, index::Shard::open(folder / "one", vector_options()));
  Cluster many;
  KIN_RETURN_IF_ERROR(open_cluster(bench, file, folder, many));
  for (std::size_t at = 0; at < file.indexed.size(); at += kBatch) {
    const auto batch = batch_of(file, at);
    KIN_RETURN_IF_ERROR(one->apply(batch, {.sync = false}));
    KIN_TRY(const router::Written written, many.router->write(batch));
    if (!written.problems.empty()) return written.problems[0].error;
    KIN_RETURN_IF_ERROR(work_off(*one));
    for (const auto& host : many.hosts) KIN_RETURN_IF_ERROR(work_off(host->shard()));
  }
  std::size_t wanted = 0, by_one = 0, by_many = 0, asked = 0;
  for (const std::size_t row : file.questions) {
    index::ShardQuery query{
        .vector = index::VectorLeg{.vector = file.vector(row), .recall = bench.recall}};
    KIN_TRY(const auto near, index::search(one->view(), query));
    KIN_TRY(const router::RoutedHits routed, many.router->search(query));
    query.vector->exact = true;
    KIN_TRY(const auto truth, index::search(one->view(), query));
    wanted += truth.hits.size();
    by_one += count_common(truth.hits, near.hits);
    by_many += count_common(truth.hits, routed.found.hits);
    asked += routed.asked;
  }
  const auto share = [&](std::size_t part, std::size_t all) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(all, 1));
  };
  return SameFigures::Vectors{.vectors = file.indexed.size(),
                              .one = share(by_one, wanted),
                              .many = share(by_many, wanted),
                              .visited = share(asked, bench.nodes * file.questions.size())};
}

}  // namespace

Result<SameFigures> bench_same(const SameBench& bench) {
  SameFigures figures{.bench = bench};
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(bench.folder));
  KIN_TRY(const auto sets, read_sets(bench));
  for (const TextSet& set : sets) {
    KIN_TRY(auto texts, compare(set, bench, folder.path() / set.name));
    figures.texts.push_back(std::move(texts));
  }
  if (bench.vectors) {
    KIN_TRY(figures.vectors, compare_vectors(bench, folder.path() / "vectors"));
  }
  return figures;
}

std::string to_json(const SameFigures& figures) {
  JsonWriter json;
  json.begin_object().field("nodes", figures.bench.nodes).key("texts").begin_array();
  for (const SameFigures::Texts& texts : figures.texts) {
    json.begin_object().field("set", texts.set).field("documents", texts.documents);
    json.field("questions", texts.questions).field("same", texts.same).end();
  }
  json.end();
  if (const auto& vectors = figures.vectors) {
    json.key("vectors").begin_object().field("vectors", vectors->vectors);
    json.field("recall_one", vectors->one).field("recall_many", vectors->many);
    json.field("visited", vectors->visited).end();
  }
  return json.end().take();
}

std::string to_table(const SameFigures& figures) {
  std::string out;
  for (const SameFigures::Texts& texts : figures.texts) {
    out +=
        fmt::format("{:<12}{:>8} documents{:>8} questions{:>8} answers the same over {} nodes\n",
                    texts.set, texts.documents, texts.questions, texts.same, figures.bench.nodes);
    if (!texts.first_difference.empty())
      out += fmt::format("first difference: {}\n", texts.first_difference);
  }
  if (const auto& vectors = figures.vectors)
    out += fmt::format(
        "{} vectors: recall@10 {:.4f} on one shard, {:.4f} over {}; {:.1f} % of the "
        "shards asked\n",
        vectors->vectors, vectors->one, vectors->many, figures.bench.nodes, 100 * vectors->visited);
  return out;
}

}  // namespace kin::bench
