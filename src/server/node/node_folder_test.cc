#include "server/node/node_folder.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "search/index_config.h"

namespace kin::server {
namespace {

class NodeFolderTest : public testing::Test {
 protected:
  NodeFolderTest() { reopen(); }
  void reopen() {
    node_.reset();
    auto opened = NodeFolder::open(scratch_.path() / "node", system_clock(),
                                   [this] { return Hash128{.low = ++drawn_}; });
    KIN_CHECK(opened.ok(), "the folder opens");
    node_ = std::move(*opened);
  }
  static std::string settings(const std::string& embed, std::uint32_t dimension = 0) {
    search::IndexConfig config;
    KIN_CHECK(search::choose_vectors(config, embed, dimension).ok(), "settings are valid");
    return search::encode(config);
  }
  Code failure(const rpc::ServedIndex& index) {
    const Status made = node_->create(index);
    KIN_CHECK(!made.ok(), "it is refused");
    return made.error().code;
  }

  std::uint64_t drawn_ = 0;
  TemporaryFolder scratch_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<NodeFolder> node_;
};

TEST_F(NodeFolderTest, AnIndexThatWasMadeIsThereAfterARestart) {
  const rpc::ServedIndex papers{.name = "papers", .settings = settings("none")};
  EXPECT_EQ(node_->find("papers", {}).error().code, Code::kNotFound);
  ASSERT_TRUE(node_->create(papers).ok());
  EXPECT_TRUE(node_->create(papers).ok());  // again, as after an answer that was lost
  EXPECT_TRUE(node_->find("papers", {}).ok());
  reopen();  // as after a kill
  EXPECT_TRUE(node_->find("papers", {}).ok());
  EXPECT_THAT(*node_->list(), testing::ElementsAre(papers));
  EXPECT_TRUE(node_->step().ok());
  EXPECT_TRUE(node_->close().ok());
}

TEST_F(NodeFolderTest, IndexesThatANodeCannotServeAreRefused) {
  EXPECT_EQ(failure({.name = "../papers", .settings = settings("none")}), Code::kInvalidArgument);
  EXPECT_EQ(failure({.name = "papers", .settings = "no settings"}), Code::kDataLoss);
  EXPECT_EQ(failure({.name = "papers", .settings = settings("corpus")}), Code::kFailedPrecondition);
  ASSERT_TRUE(node_->create({.name = "papers", .settings = settings("none")}).ok());
  const router::AssignRequest owns{.owners = {{.epoch = 1, .owned = true}}};
  ASSERT_TRUE((*node_->find("papers", {}))->serve(owns, {}).ok());
  EXPECT_EQ(failure({.name = "papers", .settings = settings("", 8)}), Code::kFailedPrecondition);
  reopen();
  EXPECT_EQ(node_->list()->size(), 1U);
}

TEST_F(NodeFolderTest, AShardThatAnUnfinishedIndexLeftIsReplacedByOneWithOtherSettings) {
  ASSERT_TRUE(node_->create({.name = "papers", .settings = settings("none")}).ok());
  const rpc::ServedIndex other{.name = "papers", .settings = settings("", 8)};
  ASSERT_TRUE(node_->create(other).ok());
  reopen();
  EXPECT_THAT(*node_->list(), testing::ElementsAre(other));
}

}  // namespace
}  // namespace kin::server
