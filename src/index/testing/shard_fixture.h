// A shard in a temporary folder, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "index/shard.h"

namespace kin::index {

// Makes vectors from the bytes of texts: the same for the same text.
class HashedWords : public VectorSource {
 public:
  explicit HashedWords(std::uint64_t seed, std::uint32_t dimension = 8)
      : seed_(seed), dimension_(dimension) {}

  Result<std::vector<std::vector<float>>> documents(
      std::span<const SourceText> texts) const override {
    std::vector<std::vector<float>> vectors;
    for (const SourceText& text : texts)
      vectors.push_back(text.text.empty() ? std::vector<float>() : made(text.text));
    return vectors;
  }
  Result<std::vector<float>> query(std::string_view text) const override { return made(text); }

  std::vector<float> made(std::string_view text) const {
    std::vector<float> vector;
    for (std::uint32_t i = 0; i < dimension_; ++i)
      vector.push_back(static_cast<float>(hash64(text, seed_ * 1000 + i) % 2000) / 1000 - 1);
    return vector;
  }

 private:
  std::uint64_t seed_;
  std::uint32_t dimension_;
};

class ShardFixture : public testing::Test {
 protected:
  static DocId id(std::string_view key) { return doc_id_of("test", key); }

  static Entity made(const std::string& key, const std::string& text = {}) {
    Entity entity;
    entity.id = id(key);
    entity.key = key;
    entity.source = "test";
    entity.title = "Title of " + key;
    entity.text = text.empty() ? "Text of " + key : text;
    return entity;
  }

  static Entity with_vector(Entity entity, std::vector<float> values) {
    entity.vectors = {{"main", std::move(values)}};
    return entity;
  }

  static Edge edge(std::string_view from, const std::string& name, std::string_view to) {
    Edge made;
    made.id = {.from = id(from), .name = name, .to = id(to)};
    return made;
  }

  static SpaceOptions given_space(std::uint32_t dimension = 4) {
    return {
        .name = "main",
        .space = {.dimension = dimension, .distance = Distance::kL2, .storage = RawStorage::kF32}};
  }

  static SpaceOptions computed_space(std::uint64_t seed) {
    SpaceOptions space = given_space(8);
    space.name = "words";
    space.origin = VectorOrigin::kComputed;
    space.source = std::make_shared<HashedWords>(seed);
    space.generation = seed;
    return space;
  }

  static ShardOptions given_options() {
    ShardOptions options;
    options.spaces = {given_space()};
    return options;
  }

  void open(ShardOptions options) {
    shard_.reset();
    auto opened = Shard::open(path(), std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    shard_ = std::move(*opened);
  }
  // Ends without a checkpoint, as a crash does.
  void drop() { shard_.reset(); }

  std::filesystem::path path() const { return folder_.path() / "shard"; }
  Shard& shard() { return *shard_; }

  Applied apply(const std::vector<Mutation>& mutations) {
    auto applied = shard_->apply(mutations, {.sync = false});
    EXPECT_TRUE(applied.ok()) << applied.error().message;
    return applied.ok() ? std::move(*applied) : Applied{};
  }

  void step_all() {
    for (;;) {
      const auto did = shard_->step();
      ASSERT_TRUE(did.ok()) << did.error().message;
      if (!did->did_work()) return;
    }
  }

  void expect_clean() {
    const auto report = shard_->check();
    ASSERT_TRUE(report.ok()) << report.error().message;
    for (const std::string& fault : report->faults) ADD_FAILURE() << fault;
  }

  // Keys of the entities that a search for words finds, the best first.
  static std::vector<std::string> found(const ShardView& view, const std::string& query) {
    const auto parsed = parse_query(query, view.text().options());
    const auto hits = view.text().search(*parsed, {.k = 100});
    std::vector<std::string> keys;
    for (const TextHit& hit : hits->hits) keys.push_back(name_of(view, hit.number));
    return keys;
  }
  std::vector<std::string> found(const std::string& query) { return found(shard_->view(), query); }

  static std::vector<std::string> nearest(const ShardView& view, const std::vector<float>& query,
                                          VectorSearch how = {}, std::string_view space = {}) {
    const auto of = view.space(space);
    EXPECT_TRUE(of.ok());
    const auto hits = view.nearest(**of, query, how);
    EXPECT_TRUE(hits.ok()) << hits.error().message;
    std::vector<std::string> keys;
    for (const VectorHit& hit : *hits) keys.push_back(name_of(view, hit.id));
    return keys;
  }
  std::vector<std::string> nearest(const std::vector<float>& query, VectorSearch how = {},
                                   std::string_view space = {}) {
    return nearest(shard_->view(), query, how, space);
  }

  static std::string name_of(const ShardView& view, std::uint32_t number) {
    const auto document = view.truth().document(DocNumber{number});
    if (!document.ok() || !*document) return "gone";
    if (const auto* stored = std::get_if<StoredEntity>(&**document)) return stored->entity.key;
    return "other";
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<Shard> shard_;
};

}  // namespace kin::index
