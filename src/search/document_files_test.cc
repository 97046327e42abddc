#include "search/document_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"

namespace kin::search {
namespace {

class DocumentFilesTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path) << text;
    return path.string();
  }
  // Refuses documents that are called "wrong".
  Status read(FilesOptions options) {
    options.check = [](const Document& document) -> Status {
      if (document.title != "wrong") return Done{};
      return Error{Code::kInvalidArgument, "it is wrong"};
    };
    return read_documents(options, progress_, [&](std::span<const Document> batch) -> Status {
      for (const Document& document : batch) KIN_RETURN_IF_ERROR(options.check(document));
      for (const Document& document : batch) taken_.push_back(document.id);
      return Done{};
    });
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
  FilesProgress progress_;
  std::vector<std::string> taken_;
};

TEST_F(DocumentFilesTest, NamesTheLineOfADocumentThatIsNotTaken) {
  const std::string path = file("a.jsonl", R"({"id": "a"}
{"id": "b", "title": "wrong"}
{"id": "c"}
)");
  const Status read_all = read({.files = {path}});
  ASSERT_FALSE(read_all.ok());
  EXPECT_EQ(read_all.error().message,
            path + ":2: it is wrong (--on-error skip leaves such records out)");
  EXPECT_TRUE(taken_.empty());
}

TEST_F(DocumentFilesTest, SkipsWhatMakesNoSenseIfTold) {
  const std::string path = file("a.jsonl", R"({"id": "a"}
{"id": "b", "title": "wrong"}
{"title": "no id"}
{"id": "c"}
)");
  ASSERT_TRUE(read({.files = {path}, .skip_errors = true}).ok());
  EXPECT_EQ(taken_, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(progress_.documents, 2U);
  EXPECT_EQ(progress_.skipped, 2U);
}

TEST_F(DocumentFilesTest, NamesTheLineOfARow) {
  const std::string path = file("a.csv", "id,title\na,fine\nb,wrong\n");
  const Status read_all = read({.files = {path}});
  ASSERT_FALSE(read_all.ok());
  EXPECT_NE(read_all.error().message.find("a.csv"), std::string::npos);
  EXPECT_NE(read_all.error().message.find("it is wrong"), std::string::npos);
}

}  // namespace
}  // namespace kin::search
