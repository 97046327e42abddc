// The contract of every ShardClient. A test instantiates the suite with the ways to reach a shard:
//
//   INSTANTIATE_TEST_SUITE_P(Local, ShardClientContract, testing::Values(&make_local));
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "router/shard_client.h"

namespace kin::router {

// A shard and a way to it. One thread only.
class ReachableShard {
 public:
  virtual ~ReachableShard() = default;
  virtual ShardClient& client() = 0;
  virtual Clock& clock() = 0;
  // The node stops without a warning and starts again.
  virtual void restart() = 0;
};

// The options that the suite needs a shard to have: a space "main" of four dimensions, and
// near-duplicates that it tells of.
index::ShardOptions contract_options();

using MakeReachable = std::unique_ptr<ReachableShard> (*)();

// Partitions 1 and 2 belong to the shard from epoch 5 on, 3 to another one.
class ShardClientContract : public testing::TestWithParam<MakeReachable> {
 protected:
  static constexpr std::uint64_t kEpoch = 5;

  ShardClientContract();

  static DocId id(std::string_view key) { return doc_id_of("test", key); }
  static index::Entity made(const std::string& key, const std::string& text);
  static index::PutEntity put(const std::string& key, const std::string& text,
                              std::uint32_t partition = 1);
  static index::PutEdge link(std::string_view from, std::string_view to);

  ShardClient& client() { return reached_->client(); }
  ReachableShard& reached() { return *reached_; }
  CallOptions options(std::uint64_t epoch = kEpoch);

  void assign();
  std::uint64_t open_session();
  // With the next sequence of the fixture's session, which it opens if need be.
  WriteReply write(std::vector<index::Mutation> mutations);
  WriteRequest request(std::uint64_t sequence, std::vector<index::Mutation> mutations);
  std::optional<index::StoredEntity> get(std::string_view key);
  static index::ShardQuery words(const std::string& text);

  template <typename Asked>
  typename Asked::Reply ask(Asked asked) {
    auto reply = call(client(), std::move(asked), options());
    KIN_CHECK(reply.ok(), reply.ok() ? "" : reply.error().message.c_str());
    KIN_CHECK(reply->index() == 0, "the shard does not refuse");
    return std::move(std::get<0>(*reply));
  }
  template <typename Asked>
  std::optional<Refused> refusal(Asked asked, std::uint64_t epoch = kEpoch) {
    auto reply = call(client(), std::move(asked), options(epoch));
    KIN_CHECK(reply.ok(), reply.ok() ? "" : reply.error().message.c_str());
    if (reply->index() == 0) return {};
    return std::get<1>(*reply);
  }
  template <typename Asked>
  Code failure(Asked asked) {
    const auto reply = call(client(), std::move(asked), options());
    KIN_CHECK(!reply.ok(), "the call fails");
    return reply.error().code;
  }

 private:
  std::unique_ptr<ReachableShard> reached_;
  std::uint64_t session_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace kin::router
