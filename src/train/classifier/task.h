#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "feed/labelled/labelled_set.h"
#include "recipe/classifier_recipe.h"
#include "train/classifier/augmentation.h"
#include "train/classifier/file_scores.h"
#include "train/classifier/model.h"
#include "train/task.h"

namespace tutti {

/// Learning to name sounds: cross-entropy of a segment's label; where a label is learned against all others, also that
/// head's. Batches come as rows of a set (Batch::rows), which is kept on the device where that has the memory.
class ClassifierTask : public Task {
 public:
  /// A new network for the set. In binary mode it learns one label and the rest of the set. Fault::usage for a label to
  /// learn `against` that the set does not have, or for binary mode without one.
  static Result<std::unique_ptr<ClassifierTask>> start(const ClassifierRecipe& recipe,
                                                       std::shared_ptr<const LabelledSet> set);

  const std::vector<Parameter>& trained() const override { return model_.weights; }
  at::Device device() const override { return device_; }
  TaskBatch prepare(const Batch& batch) override;
  at::Tensor loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) override;
  std::map<std::string, std::string> files(const std::string& weight_type) const override {
    return model_.files(weight_type);
  }
  std::vector<Parameter> weights() const override { return model_.weights; }

  const ClassifierModel& model() const { return model_; }
  /// What files are decided by from now on, and what OUT/model keeps.
  void decide_by(const FileDecision& decision) { model_.decision = decision; }
  /// Begins with the weights of another network, but for those of heads of other labels. The geometry is the same.
  void begin_with(const ClassifierModel& other);

 private:
  ClassifierTask(ClassifierModel model, std::shared_ptr<const LabelledSet> set, const ClassifierRecipe& recipe,
                 at::Device device);
  void keep_on_device();
  at::Tensor gathered(const std::vector<std::int64_t>& rows) const;
  at::Tensor features_of(const at::Tensor& rows) const;

  ClassifierModel model_;
  std::shared_ptr<const LabelledSet> set_;
  ClassifierRecipe recipe_;
  at::Device device_;
  ClassifierAugmentation augmentation_;
  ClassifierLoss loss_{};
  at::Tensor resident_{};  // [rows, n_mels, frames] float16 on a GPU; undefined: gathered on the host
};

/// The label of the second head, by recipe and set; empty: there is none. Fault::usage for one that the set has not.
Result<std::string> against_of(const ClassifierRecipe& recipe, const LabelledSet& set);

/// Classifies every recording of a set in batches of `batch_size` segments: a clip's answer is the mean of its
/// segments' probabilities, a recording's the vote of its clips. `interrupted` ends it with Fault::cancelled.
Result<std::vector<FileAnswer>> classify_set(const ClassifierModel& model, const LabelledSet& set,
                                             std::int64_t batch_size, const std::function<bool()>& interrupted);

}  // namespace tutti
