#pragma once

#include "recipe/classifier_recipe.h"
#include "recipe/training_fields.h"

namespace tutti {

template <class Visit>
void visit_classifier_input(ClassifierRecipe& r, Visit& visit) {
  visit.group("Data");
  visit("data", r.data, "SET",
        "what to learn: a folder that 'tutti prepare classifier' or note 003's builder wrote; or folders of "
        "recordings or a list, as that takes them, which are prepared into OUT/set");
  visit.group("Augmentation, drawn again for every clip and epoch");
  visit("gain-db", r.augmentation.gain_db, "DB",
        "clips are made louder or softer by up to this; -1: 6 for sets of whole clips, but 0 where the plain baseline "
        "needs their level to name them, and in note 003's geometry");
  visit("shift-share", r.augmentation.shift_share, "SHARE",
        "share of a clip's frames that it is moved by at most, to either side; -1: likewise 0.1 or 0");
  visit("noise-share", r.augmentation.noise_share, "SHARE", "share of segments that get white noise");
  visit("noise-least-db", r.augmentation.noise_least_db, "DB", "level of the noise below its segment, at least");
  visit("noise-most-db", r.augmentation.noise_most_db, "DB", "and at most");
  visit("mixup", r.augmentation.mixup, "ALPHA",
        "every segment is mixed with another of its batch, labels likewise, by shares of Beta(ALPHA, ALPHA); 0: not");
  visit("use-specaugment", r.augmentation.use_specaugment, "",
        "blank bands and stretches (SpecAugment), as many as follow");
  visit("mask-bands", r.augmentation.mask_bands, "N", "bands of up to a fifth of the mels");
  visit("mask-stretches", r.augmentation.mask_stretches, "N", "stretches of up to a fifth of the frames");
  visit.group("Network");
  visit("channels", r.network.channels, "N",
        "channels of the first convolution; the others have two and four times as many; 0: 32, of a set with less than "
        "500 clips to learn 16, with less than 100 of them 8");
  visit("hidden", r.network.hidden, "N",
        "units of the hidden layer; 0: 256, or eight times channels where those are 0");
  visit("dropout", r.network.dropout, "SHARE", "in front of and behind the hidden layer");
  visit("against", r.network.against, "LABEL",
        "a second head learns this label against all others, and its file decisions rank networks; of a set with a "
        "label LEAK in note 003's geometry that is the default, 'none' switches it off");
  visit("binary-mode", r.network.binary_mode, "", "learn that label and the rest alone: LABEL and NOT_LABEL");
  visit("boost", r.network.boost, "TIMES", "that LABEL counts in the loss of binary mode");
  visit("two-stage", r.network.two_stage, "",
        "train a network in binary mode in OUT/screen first, then one of all labels that begins with its weights");
  visit_export_type(r.network.export_type, visit);
}

template <class Visit>
void visit_classifier_steps(ClassifierRecipe& r, Visit& visit) {
  visit_batches(r.batches, visit,
                "segments computed together; where no flag names it, fewer for an epoch of least-steps", [&] {
                  visit("val-batch-size", r.val_batch_size, "N", "the same in evaluations");
                  visit("least-steps", r.least_steps, "N",
                        "steps of an epoch, at least: on a small set batches are smaller for it");
                });
  visit_optimiser(r.optimiser, visit, OptimiserKeys::by_epochs);
  visit("loss", r.loss.kind, r.loss.kind.all(), "focal counts what is answered well less: gamma 2, alpha 0.75");
  visit("label-smoothing", r.loss.label_smoothing, "SHARE", "share of the certainty that is spread over all labels");
  visit("class-weights", r.loss.class_weights, r.loss.class_weights.all(),
        "rare labels count as much as frequent ones, or as they come");
  visit("tune-minutes", r.tune_minutes, "MIN",
        "before the training: try other networks, augmentation, learning rates, batch sizes and dropouts in short "
        "trainings for so long, and take the best by cross-validation over groups; of sets above 2,000 clips by the "
        "validation part. Of recordings that --data names, also the front end. OUT/tuning.jsonl records all; 0: not");
}

/// As visit_fields of a Whisper recipe.
template <class Visit>
void visit_fields(ClassifierRecipe& r, Visit&& visit) {
  visit_classifier_input(r, visit);
  visit_classifier_steps(r, visit);
  visit_arithmetic(r.arithmetic, visit, "seed of order, weights, dropout and augmentation");
  visit_run(r.run, visit);
}

}  // namespace tutti
