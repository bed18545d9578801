#include "recipe/trainers/loader_flags.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/try.h"
#include "recipe/trainers/trainer_settings.h"
#include "settings/values.h"

namespace tutti {
namespace {

constexpr std::int64_t kMostDepth = 1000;

/// A flag that does nothing here is still read: with a value that it cannot have, something else was intended.
Result<void> check_answered(Treatment treatment, const FlagWord& flag, const std::string& shown) {
  const std::string found = ", found '" + flag.value.value_or("") + "'";
  if (treatment == Treatment::folder)
    return flag.value ? Result<void>() : fail(Fault::usage, shown + ": expected a folder, found nothing");
  if (treatment == Treatment::count) {
    const bool is_count = number_in<std::int64_t>(flag.value.value_or("")).value_or(-1) >= 0;
    return is_count ? Result<void>() : fail(Fault::usage, shown + ": expected a whole number, 0 or more" + found);
  }
  bool ignored = false;
  if (!flag.value || read_value(*flag.value, ignored)) return {};
  return fail(Fault::usage, shown + ": expected True or False" + found);
}

std::string depth_answer(const std::string& name, std::int64_t depth, std::int64_t batch_bytes) {
  auto answer = name + ": becomes ring-depth " + std::to_string(depth) + ", batches ready for the steps to come";
  if (batch_bytes > 0) answer += "; at most " + fixed_text(static_cast<double>(depth * batch_bytes) / 1e6, 0) + " MB";
  return answer;
}

}  // namespace

FlagWord flag_at(const std::vector<std::string>& words, std::size_t i, const std::string& prefix) {
  const auto equals = std::min(words[i].find('='), words[i].size());
  FlagWord flag{.name = with_hyphens(words[i].substr(0, equals))};
  const auto start = "--" + with_hyphens(prefix);
  flag.name = flag.name.starts_with(start) ? flag.name.substr(start.size()) : std::string();
  if (equals < words[i].size()) {
    flag.value = words[i].substr(equals + 1);
  } else if (i + 1 < words.size() && (!words[i + 1].starts_with("-") || number_in<double>(words[i + 1]))) {
    flag.value = words[i + 1];
    flag.words = 2;
  }
  return flag;
}

std::optional<std::string> loader_answer(const std::string& name) {
  const auto& settings = trainer_settings(TrainerNames::loader);
  const auto known = settings.find(name);
  return known == settings.end() || known->second.is_renamed() ? std::nullopt : std::optional(known->second.text);
}

std::vector<std::string> loader_flag_names(const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& [name, setting] : trainer_settings(TrainerNames::loader))
    names.push_back(with_hyphens(prefix) + name);
  return names;
}

Result<void> expect_no_other(const std::string& shown, const std::string& ours, const std::string& value,
                             const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto flag = flag_at(words, i, "");
    if ("--" + flag.name == ours && flag.value && *flag.value != value)
      return fail(Fault::usage, shown + " " + value + ": it is " + ours + " here, which is " + *flag.value + " already",
                  "Leave one of them out");
  }
  return {};
}

Result<LoaderFlags> without_loader_flags(const std::vector<std::string>& words, const std::string& prefix,
                                         std::int64_t batch_bytes) {
  const auto& settings = trainer_settings(TrainerNames::loader);
  LoaderFlags taken;
  for (std::size_t i = 0; i < words.size();) {
    const auto flag = flag_at(words, i, prefix);
    const auto known = settings.find(flag.name);
    const bool is_kept = flag.name == "num-workers" && !prefix.empty();  // the feed of Whisper has threads
    if (is_kept || known == settings.end()) {
      taken.words.push_back(words[i++]);
      continue;
    }
    const auto shown = words[i].substr(0, words[i].find('='));
    const auto& setting = known->second;
    if (setting.treatment == Treatment::depth) {
      const auto depth = number_in<std::int64_t>(flag.value.value_or(""));
      if (!depth || *depth < 1 || *depth > kMostDepth)
        return fail(Fault::usage, shown + ": expected 1 to 1000, found '" + flag.value.value_or("") + "'");
      const auto ours = "--" + setting.text, value = std::to_string(*depth);
      TRY(expect_no_other(shown, ours, value, words));
      taken.words.insert(taken.words.end(), {ours, value});
      taken.answers.push_back(depth_answer(shown, *depth, batch_bytes));
    } else {
      TRY(check_answered(setting.treatment, flag, shown));
      taken.answers.push_back(shown + ": " + setting.text);
    }
    i += flag.words;
  }
  return taken;
}

}  // namespace tutti
