#include "bench/search/text_peer.h"

#ifdef KIN_XAPIAN
#include <fmt/format.h>
#include <xapian.h>

#include "bench/measure.h"
#endif

namespace kin::bench {

#ifdef KIN_XAPIAN
namespace {

namespace fs = std::filesystem;

class XapianPeer final : public TextPeer {
 public:
  XapianPeer(const fs::path& folder, const std::vector<search::Document>& documents,
             const index::Bm25& ranking)
      : folder_(folder / "xapian"), ranking_(ranking) {
    Xapian::WritableDatabase writer(folder_.string(), Xapian::DB_CREATE_OR_OVERWRITE);
    Xapian::TermGenerator generator;
    generator.set_stemmer(stem_);
    for (const search::Document& document : documents) {
      Xapian::Document entry;
      generator.set_document(entry);
      generator.index_text(document.title);
      generator.increase_termpos();
      generator.index_text(document.text);
      writer.add_document(entry);
    }
    writer.commit();
    writer.close();
    database_ = Xapian::Database(folder_.string());
    enquire_ = std::make_unique<Xapian::Enquire>(database_);
    // The parameters are k1, k2, k3, b and the least normalised length.
    enquire_->set_weighting_scheme(Xapian::BM25Weight(ranking_.k1, 0, 1, ranking_.b, 0.01));
  }

  std::vector<std::uint32_t> search(const std::vector<std::string>& words) override {
    std::vector<std::string> terms;
    // Z is Xapian's mark of stemmed terms.
    for (const std::string& word : words) terms.push_back("Z" + stem_(word));
    enquire_->set_query(Xapian::Query(Xapian::Query::OP_OR, terms.begin(), terms.end()));
    const Xapian::MSet found = enquire_->get_mset(0, 10);
    std::vector<std::uint32_t> places;
    // Xapian counts documents from 1.
    for (auto hit = found.begin(); hit != found.end(); ++hit) places.push_back(*hit - 1);
    return places;
  }

  std::uint64_t bytes() const override { return bytes_in(folder_); }

 private:
  fs::path folder_;
  index::Bm25 ranking_;
  Xapian::Stem stem_{"english"};
  Xapian::Database database_;
  std::unique_ptr<Xapian::Enquire> enquire_;
};

}  // namespace

Result<std::unique_ptr<TextPeer>> TextPeer::create(const fs::path& folder,
                                                   const std::vector<search::Document>& documents,
                                                   const index::Bm25& ranking) {
  try {
    return std::unique_ptr<TextPeer>(std::make_unique<XapianPeer>(folder, documents, ranking));
  } catch (const Xapian::Error& error) {
    return Error{Code::kInternal, fmt::format("Xapian: {}", error.get_description())};
  }
}
#else
Result<std::unique_ptr<TextPeer>> TextPeer::create(const std::filesystem::path&,
                                                   const std::vector<search::Document>&,
                                                   const index::Bm25&) {
  return std::unique_ptr<TextPeer>();
}
#endif

}  // namespace kin::bench
