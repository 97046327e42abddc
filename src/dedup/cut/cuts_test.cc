#include "dedup/cut/cuts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "data/json_value.h"
#include "dedup/spill/long_texts.h"
#include "dedup/testing/cut_corpora.h"
#include "dedup/testing/cut_reference.h"
#include "text/normalize.h"

namespace kin::dedup {
namespace {

using Unit = CutOptions::Unit;

class CutsTest : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  void write(const Corpus& corpus, const DedupOptions& options) const {
    std::ofstream file(path("in.jsonl"));
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      JsonWriter json;
      json.begin_object().field("id", "r" + std::to_string(i));
      for (std::size_t f = 0; f < corpus[i].size(); ++f) {
        json.key(options.fields[f]);
        if (corpus[i][f]) {
          json.value(*corpus[i][f]);
        } else {
          json.null();
        }
      }
      file << json.end().text() << '\n';
    }
  }

  struct Made {
    std::vector<std::optional<Texts>> left;
    std::string log;
    std::uint64_t unverified = 0;
  };

  // Finds and applies the cuts.
  Made cut(const Corpus& corpus, const DedupOptions& options, bool weak_hashes = false) const {
    write(corpus, options);
    auto inputs = data::find_inputs(std::vector{path("in.jsonl").string()}, folder_.path());
    data::DatasetOptions dataset_options;
    dataset_options.threads = options.threads;
    dataset_options.temporary_folder = folder_.path();
    const auto dataset = *data::Dataset::open(*inputs, dataset_options);
    const auto outcome = find_cuts({.dataset = *dataset,
                                    .options = options,
                                    .folder = folder_.path(),
                                    .spill_memory = memory_,
                                    .stage_memory = memory_,
                                    .enter = [](const char*) { return Done{}; },
                                    .check_rows = [](std::uint64_t) { return Done{}; },
                                    .weak_hashes = weak_hashes});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    const Cuts& cuts = *outcome->cuts;
    Made made;
    made.unverified = cuts.counts().unverified;
    for (std::size_t r = 0; r < corpus.size(); ++r) {
      if (cuts.emptied().contains(record_id(r))) {
        made.left.emplace_back();
        continue;
      }
      Texts left = corpus[r];
      for (std::size_t f = 0; f < left.size(); ++f) {
        std::string text;
        if (left[f] && *cuts.replace(f, record_id(r), *left[f], text)) left[f] = text;
      }
      made.left.emplace_back(std::move(left));
    }
    auto file = *AtomicFile::create(path("cut.jsonl"));
    EXPECT_TRUE(cuts.write_log(file).ok());
    EXPECT_TRUE(file.commit().ok());
    made.log = *read_file(path("cut.jsonl"));
    return made;
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
  std::uint64_t memory_ = 1 << 16;
};

std::string shown(const Corpus& corpus, const DedupOptions& options) {
  JsonWriter json(2);
  json.begin_array();
  for (const Texts& record : corpus) {
    json.begin_array();
    for (const auto& text : record) json.value(text.value_or("NULL"));
    json.end();
  }
  return by_of(options) + " " + describe(*options.cut) + " " +
         std::string(text::name_of(options.shingles.normalization)) + " " + json.end().take();
}

TEST_F(CutsTest, CountTheHeaviestTextAndRefuseOneThatIsTooLong) {
  DedupOptions options;
  options.cut.emplace();
  options.threads = 2;
  const Corpus corpus{{"short"}, {std::string(500'000, '\n')}};
  write(corpus, options);
  const auto inputs = data::find_inputs(std::vector{path("in.jsonl").string()}, folder_.path());
  const auto dataset = *data::Dataset::open(*inputs, {.temporary_folder = folder_.path()});
  std::uint64_t heaviest = 0;
  std::atomic<bool> met_too_long_text = false;
  const auto find = [&](std::uint64_t room) {
    return find_cuts({.dataset = *dataset,
                      .options = options,
                      .folder = folder_.path(),
                      .spill_memory = memory_,
                      .stage_memory = memory_,
                      .text_room = room,
                      .enter = [](const char*) { return Done{}; },
                      .check_rows = [](std::uint64_t) { return Done{}; },
                      .check_text = [&](std::uint64_t weight) -> Status {
                        heaviest = weight;
                        return Done{};
                      },
                      .met_too_long_text = &met_too_long_text});
  };
  const std::uint64_t weight = text_weight(*corpus[1][0], options);
  ASSERT_TRUE(find(weight * sketch_copies(options)).ok());
  EXPECT_EQ(heaviest, weight);
  EXPECT_FALSE(met_too_long_text);
  const auto refused = find(weight * sketch_copies(options) - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_TRUE(met_too_long_text);
}

class CutsOfUnit : public CutsTest, public testing::WithParamInterface<Unit> {};

TEST_P(CutsOfUnit, AgreeWithBruteForce) {
  CutCorpora random(static_cast<std::uint64_t>(GetParam()) + 17);
  const char* more = std::getenv("KIN_CUT_CORPORA");
  const int corpora = more != nullptr ? std::atoi(more) : 300;
  std::size_t cut_somewhere = 0;
  for (int i = 0; i < corpora; ++i) {
    const DedupOptions options = random.options(GetParam());
    const Corpus corpus = random.corpus(options.fields.size());
    const Made made = cut(corpus, options);
    ASSERT_EQ(made.left, cut_by_brute_force(corpus, options))
        << "corpus " << i << ": " << shown(corpus, options);
    cut_somewhere += made.log.empty() ? 0 : 1;
  }
  EXPECT_GT(cut_somewhere, static_cast<std::size_t>(corpora) / 3);
}

// A passage in the log.
struct Logged {
  std::size_t row, field, begin, end, of_row, of_field, of_begin, of_end;
  std::string text, id, of_id, method;
  bool record_removed;
};

std::vector<Logged> parse_log(const std::string& log, const DedupOptions& options) {
  std::vector<Logged> lines;
  const auto field_of = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(options.fields.begin(), options.fields.end(), name) -
                                    options.fields.begin());
  };
  std::size_t begin = 0;
  for (std::size_t end = log.find('\n'); end != std::string::npos; end = log.find('\n', begin)) {
    const data::JsonValue json = *data::parse_json(log.substr(begin, end - begin));
    const auto number = [&](const char* name) {
      return static_cast<std::size_t>(*json[name].number());
    };
    lines.push_back({.row = number("row_id"),
                     .field = field_of(json["field"].text()),
                     .begin = number("begin"),
                     .end = number("end"),
                     .of_row = number("duplicate_of_row_id"),
                     .of_field = field_of(json["duplicate_of_field"].text()),
                     .of_begin = number("duplicate_of_begin"),
                     .of_end = number("duplicate_of_end"),
                     .text = std::string(json["text"].text()),
                     .id = std::string(json["id"].text()),
                     .of_id = std::string(json["duplicate_of_id"].text()),
                     .method = std::string(json["method"].text()),
                     .record_removed = *json["record_removed"].boolean()});
    begin = end + 1;
  }
  return lines;
}

// The texts by which the units of a passage are compared.
std::vector<std::string> compared(const std::string& text, const DedupOptions& options) {
  std::vector<std::string> texts;
  for (const ReferenceUnit& unit : split_reference(text, options)) texts.push_back(unit.text);
  if (!options.cut->by_line()) return texts;
  // A cut includes a line break, which leaves an empty line at one end.
  std::erase(texts, std::string());
  return texts;
}

// Every passage agrees with the log, and the text it repeats stays.
void check_log(const Corpus& corpus, const DedupOptions& options,
               const std::vector<std::optional<Texts>>& left, const std::string& log) {
  const std::vector<Logged> lines = parse_log(log, options);
  Corpus rest = corpus;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const std::string& old = *corpus[line->row][line->field];
    ASSERT_EQ(line->text, old.substr(line->begin, line->end - line->begin));
    ASSERT_EQ(line->id, "r" + std::to_string(line->row));
    ASSERT_EQ(line->of_id, "r" + std::to_string(line->of_row));
    ASSERT_EQ(line->record_removed, !left[line->row].has_value());
    ASSERT_EQ(line->method, method_of(*options.cut));
    rest[line->row][line->field]->erase(line->begin, line->end - line->begin);
    const std::string of =
        corpus[line->of_row][line->of_field]->substr(line->of_begin, line->of_end - line->of_begin);
    if (options.cut->unit == Unit::kByte) {
      // Whole characters, without one that is shared with the next passage.
      ASSERT_EQ(line->text.substr(0, of.size()), of);
      ASSERT_TRUE(text::is_valid_utf8(of));
      ASSERT_LE(utf8_characters(line->text) - utf8_characters(of), 1U);
    } else {
      ASSERT_EQ(compared(line->text, options), compared(of, options));
    }
    if (!options.cut->keep_first) continue;
    for (const Logged& other : lines) {
      const bool same = other.row == line->of_row && other.field == line->of_field;
      const bool inside = std::max(other.begin, line->of_begin) < std::min(other.end, line->of_end);
      // White space beside a passage may be cut.
      if (same && inside) {
        const std::size_t from = std::max(other.begin, line->of_begin);
        const std::size_t to = std::min(other.end, line->of_end);
        ASSERT_TRUE(is_blank_reference(corpus[other.row][other.field]->substr(from, to - from)));
      }
    }
  }
  for (std::size_t row = 0; row < corpus.size(); ++row) {
    if (left[row]) {
      ASSERT_EQ(rest[row], *left[row]);
    }
  }
}

TEST_P(CutsOfUnit, AreLoggedWithTheTextThatStays) {
  CutCorpora random(static_cast<std::uint64_t>(GetParam()) + 170);
  for (int i = 0; i < 150; ++i) {
    const DedupOptions options = random.options(GetParam());
    const Corpus corpus = random.corpus(options.fields.size());
    const Made made = cut(corpus, options);
    ASSERT_NO_FATAL_FAILURE(check_log(corpus, options, made.left, made.log))
        << shown(corpus, options);
  }
}

TEST_P(CutsOfUnit, AreComparedByTextWhereHashesCollide) {
  CutCorpora random(static_cast<std::uint64_t>(GetParam()) + 1700);
  std::uint64_t unverified = 0;
  for (int i = 0; i < 150; ++i) {
    const DedupOptions options = random.options(GetParam());
    const Corpus corpus = random.corpus(options.fields.size());
    const Made made = cut(corpus, options, true);
    unverified += made.unverified;
    ASSERT_NO_FATAL_FAILURE(check_log(corpus, options, made.left, made.log))
        << shown(corpus, options);
  }
  EXPECT_GT(unverified, 0U);
}

TEST_P(CutsOfUnit, DoNotDependOnThreadsOrMemory) {
  CutCorpora random(static_cast<std::uint64_t>(GetParam()) + 17'000);
  for (int i = 0; i < 20; ++i) {
    DedupOptions options = random.options(GetParam());
    const Corpus corpus = random.corpus(options.fields.size());
    options.threads = 1;
    memory_ = 1 << 24;
    const Made one = cut(corpus, options);
    options.threads = 4;
    memory_ = 0;
    const Made four = cut(corpus, options);
    ASSERT_EQ(one.left, four.left);
    ASSERT_EQ(one.log, four.log);
  }
}

INSTANTIATE_TEST_SUITE_P(Units, CutsOfUnit,
                         testing::Values(Unit::kLine, Unit::kParagraph, Unit::kWord, Unit::kByte),
                         [](const auto& unit) {
                           return std::string(
                               std::array{"Lines", "Paragraphs", "Words",
                                          "Bytes"}[static_cast<std::size_t>(unit.param)]);
                         });

TEST_F(CutsTest, OfOneRepeatedCharacterLeaveOneWindow) {
  DedupOptions options;
  options.threads = 2;
  options.cut = CutOptions{.unit = Unit::kByte, .length = 50};
  const Corpus corpus = {{std::string(100'000, 'a')}, {std::string(100'000, 'a')}};
  const Made made = cut(corpus, options);
  EXPECT_EQ(made.left[0], Texts{std::string(50, 'a')});
  EXPECT_EQ(made.left[1], std::nullopt);
}

TEST_F(CutsTest, OfLinesTakeTheirLineBreakAlong) {
  DedupOptions options;
  options.threads = 2;
  options.cut = CutOptions{.unit = Unit::kLine, .min_length = 3};
  const Corpus corpus = {{"Share this!\nfirst"},
                         {"second\r\nSHARE THIS\r\nthird"},
                         {"fourth\nshare this"},
                         {"share this\n\nshare, this\n"}};
  const Made made = cut(corpus, options);
  EXPECT_EQ(made.left[0], corpus[0]);
  EXPECT_EQ(made.left[1], Texts{"second\r\nthird"});
  EXPECT_EQ(made.left[2], Texts{"fourth"});
  EXPECT_EQ(made.left[3], std::nullopt);
}

}  // namespace
}  // namespace kin::dedup
