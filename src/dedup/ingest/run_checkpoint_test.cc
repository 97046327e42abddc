#include "dedup/ingest/run_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::dedup {
namespace {

IngestState example() {
  IngestState state;
  state.run = "nightly/1";
  state.worker = "a1b2c3d4";
  state.attempt = 2;
  state.settings = "0011223344556677";
  state.files = {{.name = "/data/a \"b\".jsonl",
                  .place = "a \"b\".jsonl",
                  .bytes = 1234,
                  .digest = "00ff00ff00ff00ff",
                  .records = 17}};
  state.sources = {{"", 2}, {"web", 15}};
  state.decided = {10, 4, 2, 1};
  return state;
}

TEST(RunCheckpoint, IsReadAsItWasWritten) {
  const auto read = decode_ingest_state(encode_ingest_state(example()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, example());
}

TEST(RunCheckpoint, KeepsItsFormat) {
  EXPECT_EQ(encode_ingest_state(example()), R"({"checksum":"40d12b424e66e054","checkpoint":{
  "version": 1,
  "run": "nightly/1",
  "worker": "a1b2c3d4",
  "attempt": 2,
  "done": false,
  "settings": "0011223344556677",
  "files": [
    {
      "name": "/data/a \"b\".jsonl",
      "place": "a \"b\".jsonl",
      "bytes": 1234,
      "digest": "00ff00ff00ff00ff",
      "records": 17
    }
  ],
  "sources": [
    {
      "source": "",
      "records": 2
    },
    {
      "source": "web",
      "records": 15
    }
  ],
  "counts": {
    "keep": 10,
    "drop": 4,
    "keep_link": 2,
    "skip": 1
  }
}}
)");
}

TEST(RunCheckpoint, RefusesEveryChangedByte) {
  const std::string bytes = encode_ingest_state(example());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(decode_ingest_state(changed)) << "byte " << i;
    EXPECT_FALSE(decode_ingest_state(bytes.substr(0, i))) << "cut at " << i;
  }
}

TEST(RunCheckpoint, IsNamedAfterTheRunAndANamedWorker) {
  IngestJob job;
  job.run = "nightly/2026.1";
  job.worker = "a b";
  EXPECT_EQ(checkpoint_name(job), "nightly%2F2026%2E1.json");
  job.named_worker = true;
  EXPECT_EQ(checkpoint_name(job), "nightly%2F2026%2E1.a%20b.json");
}

}  // namespace
}  // namespace kin::dedup
