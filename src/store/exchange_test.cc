#include "store/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "data/text_packer.h"
#include "store/local_stores.h"
#include "store/testing/documents.h"

namespace kin::store {
namespace {

using testing::HasSubstr;

class Exchange : public testing::TestWithParam<const char*> {
 protected:
  LocalStoreOptions where(const std::string& name) {
    LocalStoreOptions options;
    options.folder = folder_.path() / name;
    options.clock = &clock_;
    options.memory_bytes = 16 << 20;
    return options;
  }
  std::unique_ptr<FingerprintStore> documents(const std::string& name) {
    return std::move(*open_local_fingerprints(where(name), some_parameters()));
  }
  std::filesystem::path file() const { return folder_.path() / GetParam(); }
  const std::filesystem::path& temporary() const { return folder_.path(); }

  // Documents of several kinds, with and without a text.
  void fill(FingerprintStore& store) {
    std::vector<Fingerprint> batch;
    std::vector<std::size_t> chosen;
    data::TextPacker packer;
    for (std::size_t i = 0; i < 2'100; ++i) {
      Fingerprint made = document(std::to_string(i));
      made.source = i % 3 == 0 ? "weird \xFF source" : "web";
      made.doc = doc_id_of(made.source, made.key);
      made.bands = {i, i + 1};
      made.chunks.resize(i % 4);
      made.created = clock_.now();
      made.packed_text.clear();
      if (i % 2 == 0) made.packed_text = packer.pack("a text, \n of " + std::to_string(i));
      chosen.push_back(batch.size());
      batch.push_back(std::move(made));
    }
    const auto found = store.find(batch);
    const auto never = [](const Fingerprint&, const Fingerprint&) -> Result<bool> { return false; };
    ASSERT_TRUE(store.admit(batch, *found, chosen, never).ok());
  }
  static std::map<DocId, Fingerprint> all(FingerprintStore& store) {
    std::map<DocId, Fingerprint> found;
    EXPECT_TRUE(store
                    .each([&](const Fingerprint& one) -> Status {
                      found.emplace(one.doc, one);
                      return Done{};
                    })
                    .ok());
    return found;
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
  ManualClock clock_{WallTime(std::chrono::milliseconds(1'700'000'000'123))};
};
INSTANTIATE_TEST_SUITE_P(Files, Exchange, testing::Values("out.parquet", "out.jsonl.zst"),
                         [](const auto& file) { return std::string(file.param).substr(4, 3); });

TEST_P(Exchange, AStoreComesBackAsItWas) {
  const auto store = documents("one");
  fill(*store);
  const auto written = export_fingerprints(*store, file(), temporary());
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(*written, 2'100U);
  EXPECT_EQ(**exported_parameters(file(), temporary()), some_parameters());
  const auto other = documents("other");
  for (int times = 0; times < 2; ++times) {
    const auto read = import_fingerprints(file(), *other, temporary());
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, 2'100U);
    EXPECT_TRUE(all(*other) == all(*store));
    EXPECT_THAT(*other->check(), testing::IsEmpty());
  }
}

TEST_P(Exchange, ALedgerComesBackAsItWas) {
  const auto ledger = *open_local_ledger(where("one"));
  std::vector<LedgerEntry> entries;
  for (int i = 0; i < 1'500; ++i) {
    LedgerEntry entry;
    entry.key = std::to_string(i);
    entry.source = "s";
    entry.doc = doc_id_of(entry.source, entry.key);
    entry.run = "run \xFE";
    entry.at = clock_.now();
    entry.outcome = i % 3 == 0 ? Outcome::kRejected : Outcome::kAccepted;
    if (i % 3 == 0) entry.duplicate_of = doc_id_of("s", "0");
    entry.similarity = i % 3 == 0 ? 0.875 : 0;
    entries.push_back(entry);
  }
  ASSERT_TRUE(ledger->record_processed(entries).ok());
  EXPECT_EQ(*export_ledger(*ledger, file(), temporary()), 1'500U);
  const auto other = *open_local_ledger(where("other"));
  const auto read = import_ledger(file(), *other, temporary());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, 1'500U);
  std::vector<DocId> docs;
  for (const LedgerEntry& entry : entries) docs.push_back(entry.doc);
  const auto found = *other->was_processed(docs);
  for (std::size_t i = 0; i < entries.size(); ++i) ASSERT_EQ(found[i], entries[i]);
}

TEST_P(Exchange, StoresWithoutDocumentsAreFilesWithoutRows) {
  const auto store = documents("one");
  EXPECT_EQ(*export_fingerprints(*store, file(), temporary()), 0U);
  const auto parameters = exported_parameters(file(), temporary());
  ASSERT_TRUE(parameters.ok()) << parameters.error().message;
  EXPECT_FALSE(parameters->has_value());
  EXPECT_EQ(*import_fingerprints(file(), *documents("other"), temporary()), 0U);
}

TEST_F(Exchange, OtherParametersAndOtherFilesAreRefused) {
  const auto store = documents("one");
  fill(*store);
  const auto path = folder_.path() / "a.jsonl";
  ASSERT_TRUE(export_fingerprints(*store, path, temporary()).ok());
  FingerprintParameters others = some_parameters();
  others.hamming += 1;
  const auto other = *open_local_fingerprints(where("other"), others);
  EXPECT_EQ(import_fingerprints(path, *other, temporary()).error().code, Code::kFailedPrecondition);
  std::string bytes = *read_file(path);
  const std::size_t at = bytes.find("\"encoded\":\"") + 40;
  bytes[at] = bytes[at] == '0' ? '1' : '0';
  ASSERT_TRUE(write_file_atomically(path, bytes).ok());
  const auto damaged = import_fingerprints(path, *documents("third"), temporary());
  ASSERT_FALSE(damaged.ok());
  EXPECT_THAT(damaged.error().message, HasSubstr("a.jsonl:1"));
  ASSERT_TRUE(write_file_atomically(path, "{\"encoded\":\"xyz\",\"parameters\":\"00\"}\n").ok());
  EXPECT_THAT(import_ledger(path, **open_local_ledger(where("l")), temporary()).error().message,
              HasSubstr("export it again"));
}

}  // namespace
}  // namespace kin::store
