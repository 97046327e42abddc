#include "stories/grouping/similarity.h"

#include <algorithm>
#include <cmath>

namespace kin::stories {
namespace {

// The highest cosines of meaning that are expected where few terms are shared. They decide which
// lists of terms are left out of a search.
constexpr double kMostJoinMeaning = 0.8;
constexpr double kMostMergeMeaning = 0.55;

double with_meaning(double terms, const MeaningSum& meaning, const Profile& profile,
                    const Scoring& scoring) {
  if (meaning.count == 0 || !profile.has_meaning()) return scoring.terms_alone * terms;
  const double alike = cosine(meaning, profile.meaning);
  return terms + scoring.meaning * std::max(0.0, alike - scoring.strangers);
}

double bonus(const Scoring& scoring, double most) {
  return scoring.meaning * std::max(0.0, most - scoring.strangers);
}

}  // namespace

double join_score(const Joining& item, const Profiles::Match& match, const Profile& profile,
                  const Scoring& scoring) {
  // In a story of many different headlines the sum of the members' lengths is larger than the
  // length of their sum.
  const double length =
      std::pow(profile.length, 1 - scoring.spread) * std::pow(profile.parts, scoring.spread);
  const double terms = match.product / (item.query.length * length);
  // Evidence is needed whatever the size of the story.
  return with_meaning(terms, item.meaning, profile, scoring) *
         std::min(1.0, match.evidence / (scoring.evidence * item.chance));
}

double column_factor(const Query& query, const Profile& profile, const Scoring& scoring) {
  double shared = 0;
  for (const Query::Label& label : query.labels) {
    const ProfileTerm* found = profile.find(label.term);
    if (found != nullptr) shared += label.share * profile.share(*found);
  }
  return 1 - (1 - scoring.same_source) * shared;
}

double faded(UnixSeconds time, const Settings& settings) {
  const double scale = std::chrono::duration<double>(settings.fading).count();
  return std::exp(-static_cast<double>(time) / scale);
}

double merge_score(const Joining& story, const Profiles::Match& match, const Profile& other,
                   const Scoring& scoring) {
  const double terms = match.product / (story.query.length * other.length);
  return with_meaning(terms, story.meaning, other, scoring) *
         column_factor(story.query, other, scoring) *
         std::min(1.0, match.evidence / (scoring.merge_evidence * story.chance));
}

Reach join_reach(const Settings& settings, const Joining& item) {
  const Scoring& scoring = settings.scoring;
  return {.least = settings.join_score(),
          .factor = scoring.terms_alone,
          .bonus = item.meaning.count > 0 ? bonus(scoring, kMostJoinMeaning) : 0,
          .evidence = scoring.evidence * item.chance};
}

Reach merge_reach(const Settings& settings, const Joining& story) {
  const Scoring& scoring = settings.scoring;
  return {.least = settings.merge_score(),
          .factor = scoring.terms_alone,
          .bonus = story.meaning.count > 0 ? bonus(scoring, kMostMergeMeaning) : 0,
          .evidence = scoring.merge_evidence * story.chance};
}

}  // namespace kin::stories
