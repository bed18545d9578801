#pragma once

#include <functional>
#include <map>
#include <string>

namespace tutti {

/// Where settings of other trainers are from.
enum class TrainerNames {
  loader,  // PyTorch's DataLoader and field note 003's trainer
  note,    // the flags of field note 002's trainer
  common,  // the flags of Hugging Face's trainer and its scripts
  file     // what only the YAML file of field note 002's trainer has
};

/// What becomes of such a setting.
enum class Treatment {
  rename,         // `text` is our name of it
  rename_switch,  // the same of a switch, which takes no value
  device,         // the same of a device, where a number is that of a GPU
  depth,          // the same of a number of batches that wait
  choose,         // our name is `text`, and its value `value`
  answer,         // it takes a value; `text` is what people are answered
  switched,       // the same of a switch
  count,          // the same of a whole number
  truth,          // the same of True or False, which may be left out
  folder,         // the same of a folder
  refuse          // `text` is why
};

struct TrainerSetting {
  Treatment treatment = Treatment::answer;
  std::string text{};
  std::string value{};
  /// Whether `text` is our name.
  bool is_renamed() const;
};

using TrainerSettings = std::map<std::string, TrainerSetting, std::less<>>;

/// The settings of these trainers by their names with hyphens, from data/trainer_settings.tsv. Thread-safe.
const TrainerSettings& trainer_settings(TrainerNames names);

}  // namespace tutti
