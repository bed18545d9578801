#pragma once

#include <string>
#include <vector>

namespace tutti {

/// Arguments after the command's name; returns the exit code (base/process/exit_code.h).
using RunCommand = int (*)(const std::vector<std::string>& arguments);

struct Command {
  std::string name;
  std::string summary;  // one line for `tutti --help`
  RunCommand run;
  std::vector<std::string> words{};  // what may stand first behind the name: "train whisper"
};

/// The command table, in the order of the help.
const std::vector<Command>& commands();
std::vector<std::string> command_names();

/// `tutti ARGUMENT...`: finds the command and runs it; --help and --version.
int run_tutti(const std::vector<std::string>& arguments);

/// Prints name, version and build id of this program and of the engine that it would start; returns the exit code. A
/// differing build of the engine, or a missing one, is reported.
int print_versions();

/// `tutti batch`: many recordings on many devices, with nothing lost.
int run_batch_command(const std::vector<std::string>& arguments);

/// `tutti serve`: transcripts over HTTP, with the API that OpenAI's clients speak.
int run_serve(const std::vector<std::string>& arguments);

/// `tutti bench [FILE...]`: how fast this machine is with a model, in every way it can run it, and which flags to use.
int run_bench(const std::vector<std::string>& arguments);

/// `tutti classify --model DIR FILE...`: names the sounds in files.
int run_classify(const std::vector<std::string>& arguments);

/// `tutti say --voice DIR -o x.wav TEXT`: speaks a text.
int run_say(const std::vector<std::string>& arguments);

/// `tutti convert X.json... -f srt`: the writers alone, over transcripts made earlier by Tutti, openai-whisper or its
/// relatives. `tutti convert MODEL -o FOLDER --to FORMAT`: a model of any kind for another program.
int run_convert(const std::vector<std::string>& arguments);

/// `tutti diarize FILE...`: who speaks when, as RTTM.
int run_diarize(const std::vector<std::string>& arguments);

/// `tutti doctor`: what this machine has, what is missing, and what to do about it.
int run_doctor(const std::vector<std::string>& arguments);

/// `tutti features FILE...`: decodes audio, finds its speech on request, and computes log-mel features; prints what
/// they are and how fast it went. Needs no model.
int run_features(const std::vector<std::string>& arguments);

/// `tutti history`: runs, devices and speeds over time, from the store.
int run_history(const std::vector<std::string>& arguments);

/// `tutti manifest`: a manifest as note 000 has it, from folders or from a database.
int run_manifest(const std::vector<std::string>& arguments);

/// `tutti models`: every Whisper model in the caches of this machine.
int run_models(const std::vector<std::string>& arguments);

/// `tutti plan`: what fits on which device, how long a batch will take, and with --simulate how policies compare.
int run_plan(const std::vector<std::string>& arguments);
int run_cost(const std::vector<std::string>& arguments);

/// `tutti prepare whisper --model M --out DIR FILE...`: long recordings with texts become a corpus to train on. `tutti
/// prepare classifier --data DIR --out SET`: so do folders of labelled sound. `tutti prepare tts --data DIR --out SET`:
/// and recordings of a voice.
int run_prepare(const std::vector<std::string>& arguments);
/// The second and the third of them, without their names.
int run_prepare_classifier(const std::vector<std::string>& words);
int run_prepare_tts(const std::vector<std::string>& words);

/// `tutti profile --pipeline F.toml`: where the time of a pipeline goes, and which change would gain.
int run_profile(const std::vector<std::string>& arguments);

/// `tutti as whisper ...`: transcribes by the command line of another program.
int run_as(const std::vector<std::string>& arguments);

/// `tutti completion SHELL`: the completion script of bash, zsh or fish.
int run_completion(const std::vector<std::string>& arguments);

/// `tutti man [COMMAND]`: the manual page of a command, or with -o all of them.
int run_man(const std::vector<std::string>& arguments);

/// `tutti pull NAME`: fetches a model from a Hugging Face hub.
int run_pull(const std::vector<std::string>& arguments);

/// `tutti queue create NAME`, `tutti queue status NAME`: queues of Amazon SQS for jobs.
int run_queue(const std::vector<std::string>& arguments);

/// `tutti send -i S3PATH -o S3PATH`: puts a job into such a queue.
int run_send(const std::vector<std::string>& arguments);

/// `tutti worker --queue-url URL --s3-bucket BUCKET`: does the jobs of such a queue.
int run_worker(const std::vector<std::string>& arguments);

/// `tutti listen --model M SOURCE`: text of audio as it comes.
int run_listen(const std::vector<std::string>& arguments);

/// `tutti review TRANSCRIPT.json...`: which finished transcripts to check by ear, and where.
int run_review(const std::vector<std::string>& arguments);

/// `tutti synth morse`: writes a corpus of Morse recordings with exact labels. `tutti synth voice`: one of sentences
/// that a synthesiser reads. `tutti synth leaks`: one of sounds of water pipes.
int run_synth(const std::vector<std::string>& arguments);
/// The second and the third of them, without their names.
int run_synth_voice(const std::vector<std::string>& words);
int run_synth_leaks(const std::vector<std::string>& words);

/// `tutti top`: a running batch, or the machine, live.
int run_top(const std::vector<std::string>& arguments);

/// `tutti evaluate --model DIR --data DIR`: error rates of a model over recordings with texts.
int run_evaluate(const std::vector<std::string>& arguments);

/// `tutti train whisper|classifier|tts|vocoder ... --out DIR`: trains a network.
int run_train(const std::vector<std::string>& arguments);

/// `tutti wer --ref F --hyp F`: word and character error rates, equal to jiwer's; with speakers, equal to meeteval's.
int run_wer(const std::vector<std::string>& arguments);

/// `tutti der --ref F --hyp F`: the diarization error rate, equal to that of pyannote.metrics.
int run_der(const std::vector<std::string>& arguments);

}  // namespace tutti
