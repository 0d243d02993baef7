"""Small corpora in other languages, for pages in other encodings."""
# ruff: noqa: E501, SIM905 - one sentence a line; lists of words read better as a string

JAPANESE = {
    "noun": "キュー ワーカー 予定表 再試行 スナップショット 台帳 区画 購読者 封筒 複製 郵便箱 記録簿".split(),
    "verb": "開く 閉じる 分割する 再生する 圧縮する 解放する 保存する 移動する 確認する".split(),
    "when": (
        "起動した直後 負荷が高いとき 夜間の整理中 接続が切れたあと 容量が足りないとき 初回の呼び出し時 再開のたび 期限の直前 "
        "試験の間 異常終了のあと 読み手がいないとき 版を上げた日 利用者が増えた朝 [3-90]秒ごと 名前が重なった場合 順番が乱れたとき"
    ).split(),
    "how": "静かに まとめて 一件ずつ 逆の順で 急いで 念のため 別の場所へ 必要なだけ 控えめに 自動で 黙って 二度 慎重に 余さず".split(),
    "what": (
        "古い鍵 残りの仕事 最後の署名 空の封筒 送り主の印 途中の計算 [4-96]個の断片 書きかけの頁 隣の区画 待ち行列の先頭 "
        "利用者の設定 障害の記録 小さな目次 失われた返事 昨日の差分 共有の錠前 検査用の数字 遠くの写し"
    ).split(),
    "does": "捨てます 数えます 並べ直します 隠します 写し取ります 調べます 束ねます 見張ります 書き直します 返します 預かります".split(),
    "title": ["[noun]を[verb]方法", "[noun]と[noun]の違い", "[noun]の使い方", "[noun]が動かないとき", "[noun]の仕組み"],
    "sentence": [
        "[noun]は、途中で止まった処理を続けるために必要な状態を保持します。",
        "[noun]を[verb]前に、必ず[noun]の残り容量を確認してください。",
        "既定値の[10-900]は、待ち時間とメモリ使用量の釣り合いを考えて決められています。",
        "複数のスレッドから同時に呼び出しても安全ですが、[noun]の順序は保証されません。",
        "最初の[noun]が届くまで、ディスクには何も書き込まれません。",
        "時計が逆方向に動いた場合、[noun]は古い期限を維持し、両方の時刻を[noun]に記録します。",
        "[3-90]分間読まれなかった[noun]は、次の整理のときに削除されます。",
        "接続が切れても、すでに取得した作業は続行され、新しい要求は最大[5-120]秒待たされます。",
        "大きなデータは[4-512]キロバイトごとに分けられ、読み取り側で元に戻されます。",
        "試験では、本物の[noun]の代わりに、メモリ上だけで動くものを使うのが普通です。",
        "[noun]を半分だけ[verb]ことはできません。全部が移るか、何も移らないかのどちらかです。",
        "一台の計算機で測ったところ、毎秒[11-98]千回の操作を処理できました。",
        "以前の版では別の名前で呼ばれていましたが、古い名前も引き続き使えます。",
        "処理の様子を見たいときは、記録の詳しさを上げて、[noun]の名前で始まる行を探してください。",
        "[noun]を作るのは安く、[verb]のは高くつくので、呼び出しの回数は少なくしましょう。",
        "二つの[noun]の内容が食い違うときは、長いほうの[noun]が残されます。",
        "設定を途中で変えても、すでに使われている[noun]には影響しません。",
        *["[when]、[noun]は[how][what]を[does]。", "[when]には[noun]が[how][what]を[does]。"] * 18,
    ],
}

CHINESE = {
    "noun": "队列 工作进程 计划表 租约 重试 批次 快照 日志 分区 消费者 信封 副本 邮箱 登记簿".split(),
    "verb": "打开 关闭 拆分 合并 重放 压缩 释放 保存 迁移 检查".split(),
    "when": (
        "刚启动时 负载升高以后 夜间整理期间 断线之后 空间不足时 第一次调用时 每次恢复时 期限临近时 测试过程中 异常退出以后 "
        "没有读者时 升级当天 用户增多时 每隔[3-90]秒 名称重复时 顺序被打乱时"
    ).split(),
    "how": "悄悄地 成批地 逐条地 倒着 尽快 谨慎地 另行 按需 自动 重新 反复 一并 暂时 完整地".split(),
    "what": (
        "过期的钥匙 剩下的工作 最后的签名 空信封 寄件人的印章 半途的计算 [4-96]个碎片 没写完的页 相邻的分区 队首的消息 "
        "用户的设置 故障记录 小目录 丢失的回信 昨天的差异 共享的锁 校验数字 远处的副本"
    ).split(),
    "does": "丢弃 清点 重排 隐藏 抄写 检查 捆扎 看守 改写 退回 保管".split(),
    "title": ["如何[verb][noun]", "[noun]与[noun]的区别", "[noun]入门", "[noun]出错时怎么办", "[noun]的工作原理"],
    "sentence": [
        "[noun]保存着被中断的任务继续执行时所需要的状态。",
        "在[verb][noun]之前，请先确认[noun]是否还有足够的空间。",
        "默认值[10-900]是在延迟与内存占用之间折中的结果，消息较小时可以适当调高。",
        "多个线程可以同时调用这个接口，但是[noun]的先后顺序并没有保证。",
        "在第一个[noun]到达之前，磁盘上不会写入任何内容。",
        "如果系统时钟向后跳动，[noun]会保留原来的期限，并把两个时间都写进[noun]。",
        "超过[3-90]分钟没有被读取的[noun]，会在下一次整理时被删除。",
        "连接中断以后，已经领取的任务会继续进行，新的请求最多等待[5-120]秒。",
        "较大的数据会被切成每份[4-512]千字节的小块，由读取的一方重新拼接起来。",
        "测试的时候，人们通常用内存中的[noun]代替真正的[noun]，失败的方式相同，但速度更快。",
        "不能只[verb]一半的[noun]：要么全部成功，要么什么都不改变。",
        "在一台普通的机器上，我们测得每秒可以处理[11-98]千次操作。",
        "早期版本里它有另外一个名字，旧名称仍然可以使用，只会提示一次警告。",
        "想知道[noun]正在做什么，可以调高日志级别，然后查找以它的名字开头的行。",
        "创建[noun]的代价很小，而[verb]的代价很大，因此应当减少调用次数。",
        "当两个[noun]的内容不一致时，系统会保留较长的那一个。",
        "运行时修改这个选项，只会影响之后新建的[noun]。",
        *["[when]，[noun][how][does][what]。", "[noun]只有[when]才[does][what]，并且[how][does][what]。"] * 18,
    ],
}

FRENCH = {
    "title": [
        "À [place], l\u2019été des marées",
        "Le jumelage avec [place] fête ses [20-60] ans",
        "Une journée à [place]",
        "Les écoliers de [place] découvrent le port",
        "Déchets verts : ce qui change à [place]",
    ],
    "sentence": [
        "Près de [120-900] visiteurs sont arrivés à [place] dès l\u2019aube, malgré une mer agitée et un vent de nord-ouest.",
        "Le maire a rappelé que l\u2019œuvre, commencée en [1920-1990], n\u2019a jamais été achevée faute de crédits.",
        "Les élèves ont préparé une exposition sur la pêche à pied, où figurent [20-80] photographies prêtées par les familles.",
        "Selon les organisateurs, la fête a coûté environ [4-90]\u202f000 € et rapporté un peu plus.",
        "La délégation de [place] sera reçue à la mairie, puis logée chez l\u2019habitant pendant [3-9] jours.",
        "«\u00a0Nous n\u2019avions pas vu une telle foule depuis [1965-2010]\u00a0», raconte [person], gardien du phare à la retraite.",
        "Un goûter sera offert aux enfants, à côté de la vieille forge, où l\u2019on façonnait naguère les ancres.",
        "Le règlement, traduit par une bénévole, précise que les chiens doivent être tenus en laisse près des nids.",
        "On y trouve aussi une crêperie, deux cafés, et un marché qui ne dure guère plus de [2-4] heures.",
        "Chaque année, au mois d\u2019août, les deux communes échangent un tonneau de cidre contre une caisse de harengs fumés.",
        "La route qui mène à [place] a été fermée après l\u2019éboulement et ne rouvrira qu\u2019en février.",
        "Reste une question délicate\u00a0: qui paiera la réparation de la jetée, estimée à [2-9] millions d\u2019euros\u00a0?",
    ],
}

POLISH = {
    "title": [
        "Zupa z [place], po polsku",
        "Żurek na [place]",
        "Pierogi, mgła i pociąg do [place]",
        "Śliwki w słoiku z [place]",
    ],
    "sentence": [
        "Zaczęło się od słoika, który ciotka z Łodzi przysłała mi w pudełku po butach, owinięty w trzy gazety.",
        "Zakwas musi stać co najmniej [4-9] dni w cieple, przykryty ściereczką, i nie wolno go pośpieszać.",
        "W [place] nikt nie wie, czym jest żurek, ale wszyscy proszą o dokładkę.",
        "Cebulę kroję drobno, podsmażam na maśle przez [8-25] minut i dopiero wtedy dodaję majeranek.",
        "Babcia mówiła, że ciasto na pierogi ma być miękkie jak płatek ucha, i miała rację.",
        "Śliwki najlepiej zbierać po pierwszym przymrozku, gdy skórka zaczyna się marszczyć.",
        "Za oknem padał śnieg z deszczem, a w kuchni pachniało grzybami i wędzoną kiełbasą.",
        "Przepis zapisałam na odwrocie biletu z roku [1968-2004], więc proporcje są przybliżone.",
        "Jeśli nie macie mąki żytniej, weźcie pszenną, ale nie mówcie o tym mojej ciotce.",
        "Łyżka śmietany na koniec, szczypta pieprzu i gotowe; reszta jest kwestią cierpliwości.",
        "Zostało nam [2-9] słoików, które stoją na parapecie i świecą jak lampki.",
    ],
}
