# Sourced by parity.sh: small lines, one behaviour each; messages, statuses and formats.

file='head -c 4194304 /dev/zero >x'

for rw in read write randread randwrite; do
	text $rw "$file" "--name=a --filename=x --bs=64k --size=2m --rw=$rw"
done
# the shares of a mix are drawn: only their sum is fixed, so that one direction gets everything here
text rw-reads "$file" "--name=a --filename=x --rw=rw --rwmixread=100"
text randrw-writes "$file" "--name=a --filename=x --rw=randrw --rwmixwrite=100"
text new-file : "--name=a --size=1m --rw=randread --bs=8k"
text new-file-writes : "--name=a --size=1m --rw=write --bs=8k"
text numjobs "$file" "--name=a --filename=x --bs=64k --numjobs=2 --rw=randread --description=two"
text numjobs-grouped "$file" "--name=a --filename=x --bs=64k --numjobs=2 --rw=randread --group_reporting"
text thread "$file" "--name=a --filename=x --bs=64k --numjobs=2 --thread --ioengine=sync"
text two-groups "$file" "--filename=x --bs=64k --name=a --name=b --new_group --rw=randread"
text number_ios "$file" "--name=a --filename=x --bs=4k --number_ios=10"
text io_size-less "$file" "--name=a --filename=x --bs=64k --size=2m --io_size=1m"
text io_size-more "$file" "--name=a --filename=x --bs=64k --size=1m --io_size=3m --rw=randread"
text offset "$file" "--name=a --filename=x --bs=64k --offset=1m"
text offset-size "$file" "--name=a --filename=x --bs=64k --offset=1m --size=2m"
text size-percent "$file" "--name=a --filename=x --bs=64k --size=50%"
text two-files "$file" "--name=a --filename=x:y --bs=64k --size=2m"
text fsync "$file" "--name=a --filename=x --rw=write --size=256k --fsync=4 --end_fsync=1"
text odd-size : "--name=a --rw=randwrite --bs=64k --size=1000k"
text bs-list "$file" "--name=a --filename=x --rw=rw --rwmixread=0 --bs=4k,16k"
text percentiles "$file" "--name=a --filename=x --percentile_list=50:99.5"
text jobfile "$file; printf '[global]\nbs=64k\nfilename=x\n[one]\nrw=randread\n[two]\nrw=read\nsize=1m\n' >j" j
text jobfile-stdin : "- <<-END
	[one]
	size=1m
	bs=128k
	END"
text no-io : "--name=a --filename=x --rw=read"
status missing-readonly : "--name=a --filename=x --size=1m --readonly"
# timeout would pass the signal on twice
limit=
text interrupted "$file" "--name=a --filename=x --time_based --runtime=10 & sleep 2; kill -TERM \$!; wait \$!" ''
limit="timeout 60"

json json "$file" "--name=a --filename=x --bs=64k --rw=randread --output-format=json"
json json-write-fsync "$file" "--bs=64k --name=a --filename=x --rw=write --fsync=4 --output-format=json"
json json-plus "$file" "--name=a --filename=x --bs=64k --rw=randwrite --output-format=json+"
json json-grouped "$file" "--bs=64k --name=a --filename=x --numjobs=2 --group_reporting --description=d --output-format=json"
json json-two "$file" "--name=a --filename=x --name=b --filename=x --thread --time_based=0 --output-format=json"
json json-and-normal "$file" "--name=a --filename=x --output-format=json,normal"
json json-failed : "--name=a --filename=x --size=1m --readonly --output-format=json"

terse minimal "$file" "--name=a --filename=x --bs=64k --minimal"
terse terse-options "$file" "--name=a --filename=x --bs=64k --rw=randrw --output-format=terse --percentile_list=50:99.9 --clat_percentiles=0 --name=b --filename=x"
terse terse-of-all "$file" "--name=a --filename=x --bs=64k --output-format=normal,terse,json --numjobs=2 --group_reporting"
for f in normal json terse; do
	terse status-interval-$f "$file" "--name=a --filename=x --time_based --runtime=1250ms --status-interval=500ms --output-format=$f"
done

status unknown-option "$file" "--name=a --filename=x --wibble=1"
status unknown-engine "$file" "--name=a --filename=x --ioengine=wibble"
status bad-value "$file" "--name=a --filename=x --bs=wibble"
status bad-boolean "$file" "--name=a --filename=x --direct --size=1m"
status no-jobs : "--size=1m"
status no-jobfile : "missing.fio"
status bad-jobfile "printf '[a]\nwibble=1\n' >j" j
status readonly-write "$file" "--name=a --filename=x --rw=write --readonly"
status too-small : "--name=a --size=1k"
status missing-directory : "--name=a --size=1m --directory=nowhere"
status two-fail : "--readonly --name=a --filename=x --size=1m --name=b --filename=y --size=1m"
status version : --version
status parse-only : "--name=a --size=1m --parse-only"

# The numbers of samples avoid multiples of 8, with which many means would end in half a unit of a report's last decimal; ties.py
# judges the rest. Fewer than 10,000 I/Os: of more, the JSON report cannot tell how many are in a class of less than 0.01 %.
exact exact-read "$file" "--name=a --filename=x --size=3968k --bs=64k --rw=randread"
exact exact-mix "$file" "--name=a --filename=x --bs=4k,8k --rw=randrw --rwmixread=70 --description=mix"
exact exact-fsync "$file" "--name=a --filename=x --size=1000k --rw=write --fsync=4"
exact exact-depth "$file" "--name=a --filename=x --size=3996k --rw=randwrite --ioengine=posixaio --iodepth=16"
exact exact-groups "$file" "--filename=x --bs=8k --size=4000k --name=a --numjobs=3 --group_reporting --name=b --new_group --rw=randrw"
exact exact-toggles "$file" "--name=a --filename=x --size=3996k --ioengine=libaio --iodepth=8 --slat_percentiles=1 --lat_percentiles=1 --percentile_list=50:99.95 --continue_on_error=all --description=d"
exact exact-no-clat "$file" "--name=a --filename=x --size=1000k --clat_percentiles=0"
exact exact-disabled "$file" "--name=a --filename=x --size=1000k --disable_clat=1"
exact exact-reduced "$file" "--name=a --filename=x --size=1000k --gtod_reduce=1"
exact exact-samples "$file" "--name=a --filename=x --rw=randrw --rate_iops=997 --time_based --runtime=2 --numjobs=2 --group_reporting"
exact exact-slow "$file" "--name=a --filename=x --rw=randread --rate_iops=50 --time_based --runtime=2"
