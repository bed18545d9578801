// The choice of a front end: which form of a set the plain baseline names best.

#include <optional>
#include <string>

#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "feed/labelled/labelled_set.h"
#include "train/classifier/baseline.h"
#include "train/classifier/task.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// How well the baseline names recordings of a set that it has not learned.
Result<ClassifierScores> scores_of(const fs::path& set, const ClassifierRecipe& recipe) {
  const auto training = TRY(LabelledSet::open(set_file(set, SetPart::training)));
  const auto validation = TRY(LabelledSet::open(set_file(set, SetPart::validation)));
  if (training->labels() != validation->labels())
    return fail(Fault::corrupt, set.string() + ": its parts for training and validation have other labels");
  const auto all = training->with(*validation);
  const auto against = TRY(against_of(recipe, *all));
  return trained_baseline(*all, recipe, against).held_out;
}

/// The set at `from` replaces the one at `to`.
Result<void> replace_set(const fs::path& from, const fs::path& to) {
  const auto before = set_with_front_end(to, "before");
  std::error_code error;
  fs::rename(to, before, error);
  if (!error) fs::rename(from, to, error);
  if (error) return tl::unexpected<Error>(system_error(to.string(), "could not be replaced", error.value()));
  fs::remove_all(before, error);
  return {};
}

}  // namespace

Result<bool> choose_front_end(const fs::path& set, const ClassifierRecipe& recipe) {
  std::optional<double> usual;
  double best = 0;
  std::string chosen;
  for (const std::string name : kFrontEnds) {
    const auto folder = set_with_front_end(set, name);
    if (!is_there(set_file(folder, SetPart::training))) continue;
    if (!usual) {
      const auto own = TRY(scores_of(set, recipe));
      usual = best = rank_of(own);
      best -= standard_error(own.accuracy, own.files);  // the best of several is so by chance, too
      log(Level::info, "front end mel: the baseline names " + fixed_text(100 * own.accuracy, 2) +
                           " % right, in cross-validation over groups");
    }
    const auto scores = TRY(scores_of(folder, recipe));
    log(Level::info, "front end " + name + ": " + fixed_text(100 * scores.accuracy, 2) + " %");
    if (rank_of(scores) >= best) continue;
    best = rank_of(scores);
    chosen = name;
  }
  if (!chosen.empty()) TRY(replace_set(set_with_front_end(set, chosen), set));
  std::error_code ignored;
  for (const std::string name : kFrontEnds) fs::remove_all(set_with_front_end(set, name), ignored);
  return !chosen.empty();
}

}  // namespace tutti
