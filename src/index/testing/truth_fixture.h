// A shard's truth in a temporary folder, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "index/truth/truth.h"

namespace kin::index {

class TruthFixture : public testing::Test {
 protected:
  TruthFixture() { reopen(); }

  static DocId id(std::string_view key) { return doc_id_of("test", key); }

  static Entity made(const std::string& key) {
    Entity entity;
    entity.id = id(key);
    entity.key = key;
    entity.source = "test";
    entity.title = "Title of " + key;
    entity.text = "Text of " + key;
    return entity;
  }

  static Edge edge(std::string_view from, const std::string& name, std::string_view to) {
    Edge made;
    made.id = {.from = id(from), .name = name, .to = id(to)};
    return made;
  }

  void reopen() {
    truth_.reset();
    auto opened = Truth::open(folder_.path() / "truth", {});
    KIN_CHECK(opened.ok(), "the truth opens");
    truth_ = std::move(*opened);
  }

  Truth& truth() { return *truth_; }
  TruthView view() { return std::move(*truth_->view()); }

  Applied do_all(const std::vector<Mutation>& mutations) {
    auto applied = truth_->apply(mutations, {.sync = false});
    KIN_CHECK(applied.ok(), "the mutations are applied");
    return std::move(*applied);
  }

  Applied do_records(const std::vector<Record>& records) {
    auto applied = truth_->apply(records, {.sync = false});
    KIN_CHECK(applied.ok(), "the records are applied");
    return std::move(*applied);
  }

  std::optional<StoredEntity> get(const DocId& of) { return std::move(*view().get(of)); }
  std::vector<Change> changes() { return std::move(view().changes({})->changes); }

  std::size_t count_rows(kv::Family family) {
    const TruthView now = view();
    std::size_t rows = 0;
    for (kv::Cursor at = now.rows(family); at.valid(); at.next()) ++rows;
    return rows;
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<Truth> truth_;
};

}  // namespace kin::index
