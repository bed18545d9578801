#pragma once

#include "recipe/whisper_recipe.h"
#include "recipe/whisper_step_fields.h"

namespace tutti {

template <class Visit>
void visit_data_fields(WhisperRecipe& r, Visit& visit) {
  visit.group("Data");
  visit("data", r.data, "DIR",
        "what to learn: the layout of LJSpeech, Common Voice, audiofolder or a generator, a table or JSON with texts, "
        "Lhotse's cuts, a folder of Kaldi's, or WebDataset's shards");
  visit("eval-data", r.eval_data, "DIR", "evaluation set; default: the data's own validation split, if it has one");
  visit("max-samples", r.max_samples, "N", "use the first N samples of the data at most; 0: all");
  visit("eval-samples", r.eval_samples, "N", "decoded in an evaluation at most; 0: all");
  visit("normaliser", r.normaliser, "none|basic|english", "what texts pass through before errors are counted");
  visit("bad-samples", r.bad_samples, "N", "unusable samples that are tolerated before training stops");
  visit("bad-share", r.bad_share, "SHARE", "share of unusable samples that is tolerated, once 200 were read; 1: all");
  visit("use-chunking", r.use_chunking, "",
        "cut recordings that are longer than the model's window, where the times of their text are known (see 'tutti "
        "prepare'); False: refuse them. Nothing is ever cut against its whole text");
  visit("chunk-strategy", r.chunk_strategy, "sequential|sliding|random",
        "pieces as long as fit, one behind the other; pieces that share half their text with the next; or pieces of "
        "half a window to a whole one, cut elsewhere in every epoch");
  visit("cache", r.cache, "DIR", "keep features there for the next epoch; without it: compute them every time");
  visit("cache-gigabytes", r.cache_gigabytes, "GB",
        "largest size of the cache on disk; when full, the oldest features are deleted first");
  visit("data-set", r.data_set, "stream|mapped|memory|device",
        "read every sample when its turn comes, or pack all features into one file of the cache once and gather whole "
        "batches from it: mapped, in memory, or on the network's device. The batches are those of a cache");
}

template <class Visit>
void visit_augmentation_fields(WhisperRecipe& r, Visit& visit) {
  visit.group("Augmentation, drawn again for every sample and epoch");
  visit("speed-share", r.speed_share, "SHARE", "share of the samples that are played 10 % slower to 10 % faster");
  visit("gain-share", r.gain_share, "SHARE", "share of the samples that are made louder or softer, -12 to 6 dB");
  visit("noise-share", r.noise_share, "SHARE", "share of the samples that get noise");
  visit("noise-least-db", r.noise_least_db, "DB", "loudest noise: the signal's power over the noise's");
  visit("noise-most-db", r.noise_most_db, "DB", "softest noise");
  visit("room-share", r.room_share, "SHARE", "share of the samples that get the echo of a room");
  visit("mask-bands", r.mask_bands, "N", "bands of up to 27 mel bins that are blanked (SpecAugment)");
  visit("mask-stretches", r.mask_stretches, "N", "stretches of up to a second that are blanked (SpecAugment)");
}

template <class Visit>
void visit_model_fields(WhisperRecipe& r, Visit& visit) {
  visit.group("Model");
  visit("model", r.model, "DIR|NAME",
        "weights to start from, of any model that 'tutti transcribe' reads; without it: a new network of the shape "
        "below");
  visit("width", r.width, "N", "model dimension of a new network; feed-forward layers are four times as wide");
  visit("heads", r.heads, "N", "attention heads of a new network");
  visit("encoder-layers", r.encoder_layers, "N", "encoder layers of a new network");
  visit("decoder-layers", r.decoder_layers, "N", "decoder layers of a new network");
  visit("mels", r.mels, "80|128", "bins of a new network's features");
  visit("window-seconds", r.window_seconds, "S", "length of a new network's window; at most 30");
  visit("text-context", r.text_context, "N", "tokens of a new network's text, prompt included");
  visit("local-attention", r.local_attention, "",
        "begin a new network with encoder heads that attend to near positions");
  visit("vocabulary", r.vocabulary, "bytes|english|multilingual|PATH",
        "tokens of a new network: one a byte, one of OpenAI's sets, or a tokenizer file");
  visit("language", r.language, "LANGUAGE", "language of the texts, for a multilingual model: a code, a tag or a name");
  visit("task", r.task, "transcribe|translate", "task token of a multilingual model");
  visit("timestamps", r.timestamps, "SHARE", "share of the samples whose targets have timestamps, 0 to 1");
  visit("labels", r.labels, "text|morse",
        "targets are the texts; morse: field note 004's, <|morse|> TEXT, and <|noise|> where a sample has no text");
  visit("export-type", r.export_type, "TYPE", "type of the weights in OUT/model: float32, float16 or bfloat16");
}

/// Calls `visit(name, field, value, meaning)` for every field in the order of the help; `visit.group(heading)` before
/// each group. `name` is the key and the flag; `value` names the value in the help, empty for a switch.
template <class Visit>
void visit_fields(WhisperRecipe& r, Visit&& visit) {
  visit_data_fields(r, visit);
  visit_augmentation_fields(r, visit);
  visit_model_fields(r, visit);
  visit_batch_fields(r, visit);
  visit_optimiser_fields(r, visit);
  visit_arithmetic_fields(r, visit);
  visit_report_fields(r, visit);
}

}  // namespace tutti
