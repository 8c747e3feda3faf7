// SPDX-License-Identifier: Apache-2.0
//
// Slurm's commands are scripts here; tests/slurm has the real ones.
#include "cluster/slurm.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "exec/files.h"

namespace duress::cluster {
namespace {

class Slurm : public testing::Test {
 protected:
  Slurm() : folder_(testing::TempDir() + "/slurm-" + std::to_string(getpid())), path_(std::getenv("PATH")) {
    std::filesystem::create_directories(folder_ + "/bin");
    setenv("PATH", (folder_ + "/bin:/usr/bin:/bin").c_str(), 1);
  }
  ~Slurm() override {
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  void command(const std::string& name, const std::string& script) const {
    std::string file = folder_ + "/bin/" + name;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    chmod(file.c_str(), 0755);
  }
  std::string folder_, path_;
};

TEST_F(Slurm, CommandsAreRunWithTheirOutputAndCode) {
  command("both", "echo out $1; echo err >&2; exit 3");
  exec::ChildOutput result = run_command({"both", "a b"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "out a b\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(run_command({"no-such-command"}).code, -1);
}

TEST_F(Slurm, NoSlurmSaysWhatToInstall) {
  setenv("PATH", (folder_ + "/bin").c_str(), 1);
  EXPECT_NE(check_slurm().find("apt-get install slurm-client"), std::string::npos);
  for (const char* name : {"sbatch", "squeue", "scancel"}) command(name, "");
  EXPECT_EQ(check_slurm(), "");
}

TEST_F(Slurm, SubmitsOneArray) {
  command("sbatch", "echo \"$@\" > " + folder_ + "/words; echo '17;here'");
  ArrayOptions options{3, "long", {"--mem=1G"}, folder_, {"/opt/it's/duress", "work", "--dir", "/s"}};
  std::string job;
  EXPECT_EQ(submit(options, job), "");
  EXPECT_EQ(job, "17");
  std::string words = exec::read_file(folder_ + "/words").value_or("");
  for (const char* word : {"--array=1-3 ", "--partition=long ", "--mem=1G ", "--requeue ", "/task.sh"})
    EXPECT_NE(words.find(word), std::string::npos) << word << " in " << words;
  EXPECT_EQ(
      array_script(options),
      "#!/bin/sh\nexec '/opt/it'\\''s/duress' 'work' '--dir' '/s' --shard \"$SLURM_ARRAY_TASK_ID/3\"\n");
}

TEST_F(Slurm, WrongPartitionIsOneLineWithThoseThatAre) {
  command("sbatch",
          "echo 'sbatch: error: invalid partition specified: nope' >&2; echo 'sbatch: error: Batch job "
          "submission "
          "failed: Invalid partition name specified' >&2; exit 1");
  command("sinfo", "echo short; echo long");
  std::string job;
  EXPECT_EQ(submit({1, "nope", {}, folder_, {"duress"}}, job),
            "sbatch rejected the job array: invalid partition specified: nope (there are: short, long; "
            "--partition says which)");
}

TEST_F(Slurm, TasksAreReadByColumns) {
  auto line = [](const char* id, const char* state, const char* restarts, const char* reason,
                 const char* node) {
    char text[200];
    std::snprintf(text, sizeof text, "%-12s%-20s%-12s%-40s%-60s\n", id, state, restarts, reason, node);
    return std::string(text);
  };
  std::string text = line("1", "RUNNING", "2", "None", "node[1-2]") +
                     line("2", "PENDING", "0", "Resources", "") +
                     line("3", "NODE_FAIL", "0", "NodeDown", "n3") +
                     line("4", "COMPLETED", "0", "None", "n3") + line("N/A", "RUNNING", "0", "None", "n3");
  std::map<u64, ArrayTask> tasks = parse_tasks(text);
  ASSERT_EQ(tasks.size(), 4u);
  EXPECT_EQ(tasks[1].restarts, 2u);
  EXPECT_EQ(tasks[1].node, "node[1-2]");
  EXPECT_FALSE(tasks[1].ended());
  EXPECT_EQ(tasks[2].reason, "Resources");
  EXPECT_FALSE(tasks[2].ended());
  EXPECT_TRUE(tasks[3].failed());
  EXPECT_TRUE(tasks[4].ended());
  EXPECT_FALSE(tasks[4].failed());
}

TEST_F(Slurm, ForgottenJobsHaveEndedAndSilenceIsNoAnswer) {
  std::map<u64, ArrayTask> tasks;
  std::string error;
  command("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
  EXPECT_TRUE(array_tasks("17", tasks, error));
  EXPECT_TRUE(tasks.empty());
  command("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  EXPECT_FALSE(array_tasks("17", tasks, error));
  EXPECT_EQ(error, "Unable to contact slurm controller");
}

TEST(Ranges, AreShort) {
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({4}), "4");
  EXPECT_EQ(ranges_text({1, 2, 3, 5, 7, 8}), "1-3, 5, 7-8");
}

}  // namespace
}  // namespace duress::cluster
