#pragma once

#include <string_view>

#include "recipe/training_fields.h"
#include "recipe/whisper_recipe.h"

namespace tutti {

template <class Visit>
void visit_data_fields(WhisperRecipe::Data& d, Visit& visit) {
  visit.group("Data");
  visit("data", d.source, "DIR",
        "what to learn: the layout of LJSpeech, Common Voice, audiofolder or a generator, a table or JSON with texts, "
        "Lhotse's cuts, a folder of Kaldi's, or WebDataset's shards");
  visit("eval-data", d.eval_data, "DIR", "evaluation set; default: the data's own validation split, if it has one");
  visit("max-samples", d.max_samples, "N", "use the first N samples of the data at most; 0: all");
  visit("eval-samples", d.eval_samples, "N", "decoded in an evaluation at most; 0: all");
  visit("normaliser", d.normaliser, d.normaliser.all(), "what texts pass through before errors are counted");
  visit("bad-samples", d.bad_samples, "N", "unusable samples that are tolerated before training stops");
  visit("bad-share", d.bad_share, "SHARE", "share of unusable samples that is tolerated, once 200 were read; 1: all");
  visit("use-chunking", d.use_chunking, "",
        "cut recordings that are longer than the model's window, where the times of their text are known (see 'tutti "
        "prepare'); False: refuse them. Nothing is ever cut against its whole text");
  visit("chunk-strategy", d.chunk_strategy, d.chunk_strategy.all(),
        "pieces as long as fit, one behind the other; pieces that share half their text with the next; or pieces of "
        "half a window to a whole one, cut elsewhere in every epoch");
  visit("cache", d.cache, "DIR", "keep features there for the next epoch; without it: compute them every time");
  visit("cache-gigabytes", d.cache_gigabytes, "GB",
        "largest size of the cache on disk; when full, the oldest features are deleted first");
  visit("data-set", d.data_set, d.data_set.all(),
        "read every sample when its turn comes, or pack all features into one file of the cache once and gather whole "
        "batches from it: mapped, in memory, or on the network's device. The batches are those of a cache");
}

template <class Visit>
void visit_augmentation_fields(WhisperRecipe::Augmentation& a, Visit& visit) {
  visit.group("Augmentation, drawn again for every sample and epoch");
  visit("speed-share", a.speed_share, "SHARE", "share of the samples that are played 10 % slower to 10 % faster");
  visit("gain-share", a.gain_share, "SHARE", "share of the samples that are made louder or softer, -12 to 6 dB");
  visit("noise-share", a.noise_share, "SHARE", "share of the samples that get noise");
  visit("noise-least-db", a.noise_least_db, "DB", "loudest noise: the signal's power over the noise's");
  visit("noise-most-db", a.noise_most_db, "DB", "softest noise");
  visit("room-share", a.room_share, "SHARE", "share of the samples that get the echo of a room");
  visit("mask-bands", a.mask_bands, "N", "bands of up to 27 mel bins that are blanked (SpecAugment)");
  visit("mask-stretches", a.mask_stretches, "N", "stretches of up to a second that are blanked (SpecAugment)");
}

template <class Visit>
void visit_model_fields(WhisperRecipe::Network& n, WhisperRecipe::Targets& t, Visit& visit) {
  visit.group("Model");
  visit("model", n.model, "DIR|NAME",
        "weights to start from, of any model that 'tutti transcribe' reads; without it: a new network of the shape "
        "below");
  visit("width", n.width, "N", "model dimension of a new network; feed-forward layers are four times as wide");
  visit("heads", n.heads, "N", "attention heads of a new network");
  visit("encoder-layers", n.encoder_layers, "N", "encoder layers of a new network");
  visit("decoder-layers", n.decoder_layers, "N", "decoder layers of a new network");
  visit("mels", n.mels, "80|128", "bins of a new network's features");
  visit("window-seconds", n.window_seconds, "S", "length of a new network's window; at most 30");
  visit("text-context", n.text_context, "N", "tokens of a new network's text, prompt included");
  visit("local-attention", n.local_attention, "",
        "begin a new network with encoder heads that attend to near positions");
  visit("vocabulary", n.vocabulary, "bytes|english|multilingual|PATH",
        "tokens of a new network: one a byte, one of OpenAI's sets, or a tokenizer file");
  visit("language", t.language, "LANGUAGE", "language of the texts, for a multilingual model: a code, a tag or a name");
  visit("task", t.task, t.task.all(), "task token of a multilingual model");
  visit("timestamps", t.timestamps, "SHARE", "share of the samples whose targets have timestamps, 0 to 1");
  visit("labels", t.labels, t.labels.all(),
        "targets are the texts; morse: field note 004's, <|morse|> TEXT, and <|noise|> where a sample has no text");
  visit_export_type(n.export_type, visit);
}

template <class Visit>
void visit_batch_fields(WhisperRecipe& r, Visit& visit) {
  visit_batches(r.batches, visit, "samples computed together", [&, &p = r.packing] {
    visit("batch-seconds", p.batch_seconds, "S", "audio computed together at most, padding included; 0: no such limit");
    visit("padding", p.padding, p.padding.all(),
          "fill up to the model's window, or only to the longest sample of the batch: much less work");
    visit("window-share", p.window_share, "SHARE",
          "share of the batches that are filled up with silence to the window although padding is 'bucket': without "
          "any, a network forgets the silence that follows speech when it transcribes");
    visit("look-ahead", p.look_ahead, "N", "samples among which a batch of like lengths is chosen");
    visit("order", p.order, p.order.all(),
          "any: batches come as they are whole, so that a slow file delays its own batch alone; each sample still "
          "comes once an epoch, but two runs are not alike");
  });
  visit("ring-megabytes", r.packing.ring_megabytes, "MB",
        "memory of the waiting batches, where ring-depth is 0 and more of them hide stalls of the feed");
}

template <class Visit>
void visit_learning_fields(WhisperRecipe::Learning& l, Visit& visit) {
  visit("dropout", l.dropout, "SHARE", "share of activations that are dropped behind every layer");
  visit("ctc-weight", l.ctc_weight, "X",
        "weight of the encoder's CTC loss beside the decoder's: a new network learns to use the audio sooner");
  visit("frame-weight", l.frame_weight, "X",
        "weight of the loss of the encoder's letters frame by frame, where the times of words (or letters) are known");
  visit(
      "attention-weight", l.attention_weight, "X",
      "weight of the loss of attending elsewhere than to a token's audio, for one head of every layer of the decoder");
  visit("freeze-encoder", l.freeze_encoder, "", "train the decoder alone");
  visit("lora-rank", l.lora_rank, "N", "train additions of this rank to queries and values alone; 0: the weights");
  visit("lora-alpha", l.lora_alpha, "X", "their scale is this divided by the rank");
}

template <class Visit>
void visit_arithmetic_fields(WhisperRecipe& r, Visit& visit) {
  auto& h = r.hardware;
  visit_arithmetic(
      r.arithmetic, visit, "seed of order, weights, dropout and augmentation", "auto|cpu|cuda:N",
      [&](std::string_view key) {
        if (key == "device") {
          visit("devices", h.devices, "LIST",
                "train on all of these at once, a process each: cuda:0,cuda:1, auto (every GPU), cpu:0,cpu:1; without "
                "it: on 'device'");
          visit("data-gpu", h.data_gpu, "model|cuda:N|cpu",
                "device that computes augmentation and features, beside the steps: the network's own, another card, or "
                "the cores by the same arithmetic; without it: the threads of the feed");
        } else if (key == "precision") {
          visit("gradient-checkpointing", h.gradient_checkpointing, "",
                "compute activations twice instead of keeping them: less memory, a third more time");
        } else {
          visit("threads", h.threads, "N",
                "threads of the feed's stages that compute; 0: as many as the cores; changes no batch");
          visit("read-threads", h.read_threads, "N",
                "threads of the feed that wait for files: more where storage is slow to answer, as over a network. "
                "They read ahead in four batches at most; changes no batch");
        }
      });
}

/// Calls `visit(name, field, value, meaning)` for every field in the order of the help; `visit.group(heading)` before
/// each group. `name` is the key and the flag; `value` names the value in the help, empty for a switch.
template <class Visit>
void visit_fields(WhisperRecipe& r, Visit&& visit) {
  visit_data_fields(r.data, visit);
  visit_augmentation_fields(r.augmentation, visit);
  visit_model_fields(r.network, r.targets, visit);
  visit_batch_fields(r, visit);
  visit_optimiser(r.optimiser, visit, OptimiserKeys::all);
  visit_learning_fields(r.learning, visit);
  visit_arithmetic_fields(r, visit);
  visit_run(r.run, visit);
}

}  // namespace tutti
