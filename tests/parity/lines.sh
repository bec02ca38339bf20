# Sourced by parity.sh: lines as users have them, run once by each program, both traced, everything compared.
#
#	line NAME TRAITS PREPARE ARGS
#
# Always: exit status, layout of the text, keys and types of the JSON, names and sizes of the files afterwards,
# the columns of log files. TRAITS, words:
#	exact    the job covers its files: the same I/Os at the same places (in any order), the same counts
#	union    a mix whose directions share the places: the same ones, whichever direction each got
#	range    draws its places: the same sizes, alignment and counts, all inside the files
#	sizes    lengths are drawn as well: compared is that all are multiples of the least, and aligned to it
#	timed    ends by the clock: as range, without the counts
#	share=N  of all I/Os N percent read, within 4 standard errors, in both programs
#	content  the files hold the same bytes afterwards
#	untraced the shim cannot see this engine's I/O
# A line with an option that kickio refuses as "not supported yet" is skipped, as are engines it was built without.

# One summary per file, direction and length: aligned to the length or not, inside the file or not, how many.
places() { # FOLDER COUNTED TRAITS <TRACE
	find "$1" -type f -printf '%f %s\n' >"$scratch/sizes"
	awk -v counted="$2" -v sizes="$(case $3 in sizes) echo yes ;; esac)" -v either="$(case $3 in *share=*) echo yes ;; esac)" '
		FILENAME != "-" { size[$1] = $2; next }
		$1 == "sync" { next }
		sizes && $4 % 4096 == 0 { $4 = 4096 }
		either { $1 = "either" }
		{ key = $1 " " $2 " " $4; n[key]++; if ($3 % $4) odd[key] = 1; if ($3 + $4 > size[$2]) beyond[key] = 1 }
		END { for (k in n) print k, (k in odd ? "unaligned" : "aligned"), (k in beyond ? "beyond" : "inside"), (counted ? n[k] : "") }' \
		"$scratch/sizes" - | sort
}

# Numbers of the JSON report that must be equal; a mix by its sum.
numbers() { # TRAITS <JSON
	awk -v sum="${1##*share*}" '
		/"(read|write|trim|sync)" : {/ { dir = $1; gsub(/"/, "", dir) }
		/"(io_bytes|total_ios|short_ios|drop_ios)" :/ {
			key = $1; v = $3; gsub(/[",]/, "", key); gsub(/,/, "", v)
			if (sum == "" && (dir == "read" || dir == "write")) total[key] += v
			else print dir, key, v
		}
		END { for (k in total) print "both", k, total[k] }' | sort
}

# Is the share of reads within 4 standard errors of what was asked for?
share() { # PERCENT <JSON
	awk -v p="$1" '
		/"(read|write)" : {/ { dir = $1 }
		/"total_ios" :/ { v = $3; gsub(/,/, "", v); if (dir ~ /read/) r += v; n += v; dir = "" }
		END { p /= 100; s = 4 * sqrt(n * p * (1 - p)); d = r - n * p
		      exit !(n > 0 && d <= s && d >= -s) }'
}

one() { # PROGRAM NAME: as run(), traced, in a folder of its own
	rm -rf "$scratch/$2.work" "$scratch/$2.trace"
	mkdir "$scratch/$2.work"
	: >"$scratch/$2.trace"
	(
		cd "$scratch/$2.work" || exit 1
		eval "$prepare"
		export TRACE="$scratch/$2.trace" TRACE_FOLDER="$scratch/$2.work"
		eval "LD_PRELOAD=\$shim timeout 60 \"\$1\" $args --output-format=json,normal" \
			>"$scratch/$2.all" 2>"$scratch/$2.err" </dev/null
		echo $? >"$scratch/$2.status"
	)
	# progress lines end in a carriage return, and what follows stands on the same line
	sed -i 's/.*\r//' "$scratch/$2.all"
	sed '/^{$/,/^}$/d' "$scratch/$2.all" | mask_text >"$scratch/$2.layout"
	sed -n '/^{$/,/^}$/p' "$scratch/$2.all" >"$scratch/$2.json"
	"$shape" -x disk_util <"$scratch/$2.json" 2>/dev/null | sort -u >"$scratch/$2.shape"
	(
		cd "$scratch/$2.work" || exit 1
		find . -type f ! -name '*.log' -printf '%P %s\n' | sort >"$scratch/$2.files"
		find . -name '*.log' -printf '%P\n' | sort | while read -r log; do
			awk -F', ' -v name="$log" 'NF > n { n = NF } END { print name, n + 0, "columns" }' "$log"
		done >"$scratch/$2.logs"
	)
}

line() {
	wanted "$1" || return 0
	if [ -z "$shim" ] || [ -z "$shape" ]; then
		echo "SKIP $1: no C compiler with jansson, or no dynamic kickio: make unit-tests"
		skipped=$((skipped + 1))
		return 0
	fi
	traits=" $2 " prepare=$3 args=$4 ok=yes what='status layout shape files logs'
	one fio fio &
	one "$dynamic" kickio
	wait
	if grep -q -e 'not supported yet' -e 'is not in this build' "$scratch/kickio.err"; then
		echo "SKIP $1: $(head -n 1 "$scratch/kickio.err")"
		skipped=$((skipped + 1))
		return 0
	fi
	: >"$scratch/why"
	for p in fio kickio; do
		case $traits in
		*" timed "*) ;;
		*) numbers "$traits" <"$scratch/$p.json" >"$scratch/$p.numbers" ;;
		esac
		case $traits in
		*" untraced "*) : >"$scratch/$p.places" ;;
		*" exact "*) grep -v ^sync "$scratch/$p.trace" | sort >"$scratch/$p.places" ;;
		*" union "*) grep -v ^sync "$scratch/$p.trace" | cut -d' ' -f2- | sort >"$scratch/$p.places" ;;
		*" range "*) places "$scratch/$p.work" yes "$traits" <"$scratch/$p.trace" >"$scratch/$p.places" ;;
		*" sizes "*) places "$scratch/$p.work" '' sizes <"$scratch/$p.trace" >"$scratch/$p.places" ;;
		*) places "$scratch/$p.work" '' "$traits" <"$scratch/$p.trace" >"$scratch/$p.places" ;;
		esac
		case $traits in
		*" content "*)
			what="$what content"
			(cd "$scratch/$p.work" && find . -type f ! -name '*.log' -exec cksum {} + | sort) >"$scratch/$p.content"
			;;
		esac
		case $traits in
		*" share="*)
			s=${traits##*share=}
			share "${s%% *}" <"$scratch/$p.json" ||
				{ echo "the share of reads of $p is not ${s%% *} %" >>"$scratch/why"; ok=no; }
			;;
		esac
	done
	case $traits in
	*" timed "*) ;;
	*) what="$what numbers" ;;
	esac
	# a trace that shows nothing compares nothing
	case $traits in
	*" untraced "*) ;;
	*) [ -s "$scratch/fio.places" ] || { echo "no trace of fio" >>"$scratch/why"; ok=no; } ;;
	esac
	for w in $what places; do
		differ "$1" "$w" >>"$scratch/why" && ok=no
	done
	[ $ok = yes ] || head -n 5 "$scratch/kickio.err" >>"$scratch/why"
	verdict "$1" $ok
}

x='head -c 4194304 /dev/zero >x'
eight='for i in 1 2 3 4 5 6 7 8; do head -c 524288 /dev/zero >fio.in.$i; done'
files8=--filename=fio.in.1:fio.in.2:fio.in.3:fio.in.4:fio.in.5:fio.in.6:fio.in.7:fio.in.8

# ---- the lines of the documents that the project started from, sizes and times cut down ----

obsd="--clocksource=clock_gettime --bs=4k --filename=x --size=1m --ioengine=sync --iodepth=1 --direct=0 --group_reporting"
for n in 1 2 4; do
	line obsd-randread-$n exact "$x" "--name=randread --rw=randread --numjobs=$n $obsd"
	line obsd-randwrite-$n exact "$x" "--name=randwrite --rw=randwrite --numjobs=$n $obsd"
done

small="--ioengine=psync --iodepth=1 --time_based --group_reporting --name=iops-test-job --eta-newline=1 --eta-interval=1 --eta=always --runtime=300ms --rw=randread"
for bs in 4096 8192; do
	line small-raw-$bs timed "$x" "--filename=x --direct=1 --bs=$bs --numjobs=1 --randseed=1668657773 --readonly $small"
	for n in 1 8; do
		line small-dir-$bs-$n timed "$eight" "$files8 --filesize=512k --bs=$bs --randrepeat=0 --norandommap --invalidate=0 --direct=1 --numjobs=$n $small"
		line small-buf-$bs-$n timed "$eight" "$files8 --filesize=512k --bs=$bs --randrepeat=0 --norandommap --invalidate=0 --direct=0 --fadvise_hint=random --numjobs=$n $small"
	done
done
line small-raw-64 timed "$x" "--filename=x --direct=1 --bs=4096 --numjobs=64 --randseed=1668657773 --readonly $small"

line weed-prepare exact : "--randrepeat=1 --name=test --filename=fiotest --bs=4k --iodepth=1 --size=2m"
line weed-randread-4k exact "$x" "--randrepeat=1 --name=test --filename=x --bs=4k --iodepth=1 --readwrite=randread --size=4m"
line weed-randread-128k exact "$x" "--randrepeat=1 --name=test --filename=x --bs=128k --iodepth=1 --readwrite=randread --size=4m"
line weed-read-4m exact 'head -c 16777216 /dev/zero >x' "--randrepeat=1 --name=test --filename=x --bs=4m --iodepth=1 --readwrite=read --size=16m"

line disks-write exact : "--size=4m --bs=64k --rw=write --direct=1 --runtime=60 --name=64kwrite --group_reporting"
line disks-write-4k exact : "--size=1m --bs=4k --rw=write --direct=1 --runtime=60 --name=64kwrite --group_reporting"
line disks-mix 'union share=70' : "--size=1m --bs=4k --rw=randrw --rwmixread=70 --direct=1 --runtime=60 --numjobs=4 --name=4k7030test --group_reporting"

net="--directory=perf-test --direct=1 --bs=4k --ioengine=libaio --iodepth=256 --runtime=300ms --time_based --group_reporting --size=4m --name=iops-test-job --eta-newline=1"
four='mkdir perf-test; for i in 0 1 2 3; do head -c 4194304 /dev/zero >perf-test/iops-test-job.$i.0; done'
line net-randwrite timed 'mkdir perf-test' "--rw=randwrite --numjobs=4 $net"
line net-randread timed "$four" "--rw=randread --numjobs=4 --readonly $net"
line net-randwrite-8 timed 'mkdir perf-test' "--rw=randwrite --numjobs=8 $net"

# ---- what else users write ----

line mix-sequential 'range share=50' "$x" "--name=a --filename=x --bs=4k --rw=rw"
line mix-rwmixwrite 'union share=80' "$x" "--name=a --filename=x --bs=4k --rw=randrw --rwmixwrite=20"
line triple exact "$x" "--name=a --filename=x --bs=4k,16k,8k --rw=write --size=2m"
line bsrange "timed sizes" "$x" "--name=a --filename=x --bsrange=4k-32k --rw=randread --time_based --runtime=100ms"
line bsrange-header exact "$x" "--name=a --filename=x --bsrange=4k-16k,8k-8k --rw=write --size=1m"
line bssplit "timed sizes" "$x" "--name=a --filename=x --bssplit=4k/50:16k/50 --rw=randread --runtime=100ms --time_based"
line nrfiles exact : "--name=a --nrfiles=4 --size=1m --bs=8k --rw=randread"
line nrfiles-sequential exact : "--name=a --nrfiles=3 --size=1152k --bs=8k --rw=read --file_service_type=sequential"
line filesize exact : "--name=a --filename=a:b --filesize=256k --rw=read --bs=16k"
line filename_format exact : "--name=a --filename_format=\\\$jobnum.\\\$filenum.\\\$jobname --nrfiles=2 --size=256k --rw=write --numjobs=2"
line directories exact 'mkdir one two' "--name=a --directory=one:two --numjobs=2 --size=256k --rw=write"
line offset_increment exact "$x" "--name=a --filename=x --offset_increment=1m --size=1m --numjobs=3 --rw=read --bs=64k"
line loops exact "$x" "--name=a --filename=x --size=512k --loops=3 --bs=64k --rw=randread"
line number_ios range "$x" "--name=a --filename=x --number_ios=30 --bs=16k --rw=randread"
line io_size exact "$x" "--name=a --filename=x --size=1m --io_size=3m --bs=64k"
line norandommap range "$x" "--name=a --filename=x --norandommap --bs=8k --rw=randread"
line zipf range "$x" "--name=a --filename=x --random_distribution=zipf:1.2 --bs=8k --rw=randread"
line pareto range "$x" "--name=a --filename=x --random_distribution=pareto:0.3 --bs=8k --rw=randread"
line normal range "$x" "--name=a --filename=x --random_distribution=normal:20 --bs=8k --rw=randread"
line zoned range "$x" "--name=a --filename=x --random_distribution=zoned:60/10:40/90 --bs=8k --rw=randread"
line percentage_random range "$x" "--name=a --filename=x --percentage_random=30 --bs=8k --rw=randread --norandommap"
line fsync exact "$x" "--name=a --filename=x --rw=write --bs=64k --fsync=4 --end_fsync=1"
line sync-open exact "$x" "--name=a --filename=x --rw=write --bs=64k --sync=dsync"
line overwrite exact : "--name=a --rw=randwrite --bs=64k --size=1m --overwrite=1"
line create_on_open exact : "--name=a --rw=write --bs=64k --size=1m --create_on_open=1"
line fallocate-none exact : "--name=a --rw=write --bs=64k --size=1m --fallocate=none"
line unlink exact : "--name=a --rw=write --bs=64k --size=1m --unlink=1 --name=b --filename=keep --rw=write --size=64k"
line zero_buffers 'exact content' : "--name=a --rw=randwrite --bs=4k --size=512k --zero_buffers"
line buffer_pattern 'exact content' : "--name=a --rw=write --bs=4k --size=512k --buffer_pattern=0xdeadbeef"
line pattern-text 'exact content' : "--name=a --rw=randwrite --bs=8k --size=256k --buffer_pattern='\"abcd\"'"
line startdelay exact "$x" "--name=a --filename=x --bs=64k --startdelay=1"
line stonewall exact "$x" "--filename=x --bs=64k --name=a --rw=write --name=b --stonewall --rw=read --name=c --new_group"
line rate_iops exact "$x" "--name=a --filename=x --bs=64k --size=2m --rate_iops=100"
line rate exact "$x" "--name=a --filename=x --bs=64k --size=2m --rate=8m"
line thinktime exact "$x" "--name=a --filename=x --bs=64k --size=1m --thinktime=1000 --thinktime_blocks=4"
line depth-libaio exact "$x" "--name=a --filename=x --bs=16k --rw=randread --ioengine=libaio --iodepth=16 --direct=1"
line depth-batches exact "$x" "--name=a --filename=x --bs=16k --rw=randwrite --ioengine=libaio --iodepth=16 --iodepth_batch=4 --iodepth_batch_complete=2 --iodepth_low=8 --direct=1"
line posixaio exact "$x" "--name=a --filename=x --bs=64k --rw=randread --ioengine=posixaio --iodepth=4"
line pvsync2 exact "$x" "--name=a --filename=x --bs=64k --rw=randwrite --ioengine=pvsync2"
line io_uring untraced "$x" "--name=a --filename=x --bs=64k --rw=randread --ioengine=io_uring --iodepth=8"
line null untraced : "--name=a --size=1m --rw=randread --ioengine=null"
line percentile-kinds exact "$x" "--name=a --filename=x --bs=64k --slat_percentiles=1 --lat_percentiles=1 --percentile_list=50:99.9"
line no-clat-percentiles exact "$x" "--name=a --filename=x --bs=64k --clat_percentiles=0"
line gtod_reduce exact "$x" "--name=a --filename=x --bs=64k --gtod_reduce=1"
line disable exact "$x" "--name=a --filename=x --bs=64k --disable_lat=1 --disable_clat=1"
line continue_on_error exact "$x" "--name=a --filename=x --bs=64k --continue_on_error=all"
line logs exact "$x" "--name=a --filename=x --bs=64k --numjobs=2 --write_lat_log=l --write_bw_log=b --write_iops_log=i --log_offset=1"
line logs-averaged timed "$x" "--name=a --filename=x --bs=64k --rw=randread --time_based --runtime=300ms --write_lat_log=l --write_bw_log=l --write_iops_log=l --log_avg_msec=100"
line logs-histogram timed "$x" "--name=a --filename=x --bs=64k --rw=randread --time_based --runtime=1s --write_hist_log=l --log_hist_msec=50 --log_hist_coarseness=4"
line logs-shared exact "$x" "--name=a --filename=x --bs=64k --numjobs=2 --write_iops_log=i --per_job_logs=0"
line cpus_allowed exact "$x" "--name=a --filename=x --bs=64k --cpus_allowed=0 --nice=5"
line exitall timed "$x" "--filename=x --time_based --exitall --name=a --runtime=200ms --name=b --runtime=20"
line numjobs-16 exact : "--name=a --size=64k --bs=4k --numjobs=16 --rw=randwrite --thread"
