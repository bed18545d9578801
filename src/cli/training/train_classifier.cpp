#include "cli/training/single_training.h"
#include "feed/recipe/classifier_fields.h"

namespace tutti {

int run_train_classifier(const std::vector<std::string>& words) {
  return run_single_training<ClassifierRecipe>(
      {.word = kClassifierTraining,
       .about = "Train a network that names sounds, on a set that 'tutti prepare classifier' made of folders of "
                "labelled recordings. Every setting is a flag here and a key in a recipe; OUT/config.toml keeps "
                "what was used. OUT/model is for 'tutti classify'. DataLoader's settings (--num_workers, "
                "--prefetch_factor, --pin_memory, ...) are answered with what replaces them.",
       .examples = {"tutti train classifier --data set --out trained", "tutti train classifier --out trained --resume"},
       .note_batch_bytes = 8192 * 128,  // field note 003's, in half precision
       .read = [](const std::string& text, const std::string& file) { return read_classifier_recipe(text, file); },
       .sources = [](const ClassifierRecipe& r) { return std::vector<std::filesystem::path>{r.data}; }},
      words);
}

}  // namespace tutti
