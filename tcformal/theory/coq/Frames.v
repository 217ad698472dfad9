(** Sums whose c has fraction bits of its own, in a circuit: in c's frame, where signs are counted from c's and a product of the other
    sign adds its complement, or of groups; the sum is rounded once or twice. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage Products TreeSums NanWords After RoundDown FrameGroups.
Import ListNotations.
Open Scope Z_scope.

(** The terms, c with the exponent that it is aligned with, or groups; c as it is; and the roundings, a second one with the largest
    code of its number's exponent. *)
Inductive framed_front := Complements (x : front) | InGroups (g : groups_plan).
Record framed_plan := FramedPlan { frame_front : framed_front; frame_c : number; frame_ending : ending; narrowed : option (Z * ending) }.

Section Complements.
Variables (m : widths) (e : frame) (ns : list number) (x : front) (c : number).
Let f := frame_bits e.

(** The sum that has the same largest exponent and cuts. *)
Definition frame_sum : sum := {| fraction_bits := Some f; alignment := frame_mode e; zero_exponent := frame_zero e; carry_bits := None; normalise := false; out := first_out e |}.

(** Terms as c's frame has them. *)
Definition other_sign (r : number) : formula := Differ (Is (sign r)) (Is (sign c)).
Fixpoint framed_bound (t : sum_tree) : Z :=
  match t with Leaf _ i => largest_aligned (nth i (addends x) absent) + 1 | Partial _ l r => framed_bound l + framed_bound r end.
Definition within_framed (t : sum_tree) : formula := within (framed_bound t) (Sg (tree_node t)).
Fixpoint framed_tree_claims (t : sum_tree) : list claim :=
  match t with
  | Leaf n i =>
      let a := nth i (addends x) absent in
      [Claim [] (Equal (Sg n) (If (other_sign (of a)) (Minus (Num_ (-1)) (U (aligned a))) (U (aligned a))));
       Claim [] (AtMost (U (aligned a)) (Num_ (largest_aligned a)))]
  | Partial n l r =>
      Claim [within_framed l; within_framed r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) :: framed_tree_claims l ++ framed_tree_claims r
  end.
Definition all_zeros : formula := all_of (map (fun a => Is (zero_node a)) (addends x)).
Definition framed_total : term := let s := Sg (tree_node (partials x)) in If all_zeros (Num_ 0) (If (Is (sign c)) (Minus (Num_ 0) s) s).
Definition framed_sum_claims : list claim :=
  Claim [within_framed (partials x)] (Equal (n_term x) framed_total) :: framed_tree_claims (partials x).

Definition complement_round : to_round :=
  let n := n_term x in
  ToRound (ns ++ [c]) (Abs n) (Equal n (Num_ 0)) (Less n (Num_ 0)) (unit_term f x) (framed_bound (partials x))
    [within (framed_bound (partials x)) n; AtMost (U (top x)) (Num_ (top_span x))] (Less n (Num_ 0)).

Definition complement_claims : list claim := aligned_claims m (fun _ => []) frame_sum f x ++ framed_sum_claims.
Definition complement_ok : bool :=
  front_ok m frame_sum f x && complement e && negb (drops_c e) && match group_size e with None => true | Some _ => false end &&
  numbers_eqb (numbers_of x) (ns ++ [lowered (c_bits e - f) c]) && forallb (in_circuit m) (front_nodes x).
End Complements.

Section Claims.
Variables (m : widths) (e : frame) (ns : list number) (q : framed_plan).
Let k := first_out e.

Definition framed_round : to_round :=
  match frame_front q with Complements x => complement_round e ns x (frame_c q) | InGroups g => groups_round e ns g end.
Definition framed_claims : list claim :=
  match frame_front q with Complements x => complement_claims m e x (frame_c q) | InGroups g => groups_claims m e g end ++
  kept_claims k (frame_ending q) framed_round ++ outcome_claims k (frame_ending q) framed_round ++
  match narrowed q with Some (s, z) => rounding_claims m (signed_zeros (frame_out e)) (outcome (frame_ending q)) s z | None => [] end.

Definition unsigned (k : conversion) : bool := match zsign k with Positive => true | _ => false end.
Definition framed_ok : bool :=
  match frame_front q with
  | Complements x => complement_ok m e ns x (frame_c q)
  | InGroups g => groups_ok m e ns g && number_eqb (its (grouped_c g)) (frame_c q)
  end && unsigned k && ending_ok m k (frame_ending q) && forallb (in_circuit m) (ending_nodes (frame_ending q)) &&
  match first_rounding e, narrowed q with
  | None, None => true
  | Some _, Some (s, z) => rounding_ok m (signed_zeros (frame_out e)) (outcome (frame_ending q)) z && match zsign (frame_out e) with SumSign => true | _ => false end
  | _, _ => false
  end.

Definition framed_outcome : number := match narrowed q with Some (_, z) => outcome z | None => outcome (frame_ending q) end.
Definition framed_usual : list formula :=
  match narrowed q with
  | Some (s, z) => usual (frame_out e) z (to_round_of m (outcome (frame_ending q)) s)
  | None => usual k (frame_ending q) framed_round
  end.
End Claims.

(** * What it computes *)

Definition framed_value (e : frame) (ps : list val) (v : val) : val := on_numbers (fun _ => Design.framed_sum e (map num_of ps) (num_of v)) (ps ++ [v]).

Lemma grid_same e bits zs x y : same x y -> grid_of e bits zs x = grid_of e bits zs y.
Proof. intros S. unfold grid_of. rewrite (same_zero _ _ S). destruct S as [_ [-> _]]. reflexivity. Qed.

Lemma framed_same e ps qs v w : Forall2 same_val ps qs -> same_val v w -> framed_value e ps v = framed_value e qs w.
Proof.
  intros F H. assert (FC : Forall2 same_val (ps ++ [v]) (qs ++ [w])) by (apply Forall2_app; auto).
  unfold framed_value, on_numbers. unfold numbers. rewrite (numbers_some _ _ FC). destruct (forallb is_num (qs ++ [w])) eqn:Q; [|now apply special_same].
  rewrite forallb_app in Q. apply andb_prop in Q. destruct Q as [Q1 Q2]. cbn [forallb] in Q2. rewrite andb_true_r in Q2.
  assert (SP : Forall2 same (map num_of ps) (map num_of qs)). { destruct (num_of_same ps qs F) as [X|X]; auto. unfold numbers in X. now rewrite (numbers_some _ _ F), Q1 in X. }
  assert (SC : same (num_of v) (num_of w)) by (destruct v, w; easy). unfold Design.framed_sum.
  assert (MG : forall b z, map (grid_of e b z) (map num_of ps) = map (grid_of e b z) (map num_of qs)) by (intros; clear -SP; induction SP; auto; cbn [map]; now rewrite IHSP, (grid_same e b z _ _ H)).
  rewrite MG, (grid_same e _ _ _ _ SC). set (z := negb _). clearbody z. set (g := match omax_list _ with Some g => g | None => 0 end). clearbody g.
  assert (FZ : forallb is_zero (map num_of ps ++ [num_of v]) = forallb is_zero (map num_of qs ++ [num_of w])).
  { rewrite !forallb_app. cbn [forallb]. rewrite (same_zero _ _ SC). f_equal. clear -SP. induction SP; auto. cbn [forallb]. now rewrite IHSP, (same_zero _ _ H). }
  assert (FR : frame_counts e g (map num_of ps) (num_of v) = frame_counts e g (map num_of qs) (num_of w)).
  { unfold frame_counts. destruct SC as [NC _]. rewrite NC. destruct (group_size e) as [size|].
    - assert (LE : length (map num_of ps) = length (map num_of qs)) by (clear -SP; induction SP; simpl; auto). rewrite LE. pose proof (cut_list_forall2 same (length (map num_of qs)) size _ _ SP) as CS. clear -CS.
      induction CS as [|a b l k A CS IH]; auto. cbn [map]. rewrite IH. f_equal.
      assert (LV : Forall2 same (live a) (live b)) by (clear -A; unfold live; induction A as [|x y g1 g2 S A IH]; [constructor|]; cbn [filter]; rewrite (same_zero _ _ S); destruct (is_zero y); cbn [negb]; auto). fold (live a) (live b).
      assert (EX : map (fun x => Some (exp x)) (live a) = map (fun x => Some (exp x)) (live b)) by (clear -LV; induction LV as [|x y g1 g2 S LV IH]; auto; cbn [map]; rewrite IH; destruct S as [_ [-> _]]; reflexivity).
      rewrite EX. set (u := match omax_list _ with Some z => z - frame_bits e | None => g end). clearbody u. do 2 f_equal. clear -LV. induction LV as [|x y g1 g2 S LV IH]; auto. cbn [map]. now rewrite IH, (same_cut _ _ _ _ S).
    - clear -SP. induction SP; auto. cbn [map]. rewrite IHSP. f_equal. rewrite (same_cut _ _ _ _ H). destruct H as [-> _]. reflexivity. }
  assert (SG : forall mm n ks, sign_of mm n (map num_of ps ++ [num_of v]) ks = sign_of mm n (map num_of qs ++ [num_of w]) ks).
  { intros. assert (A : Forall2 same (map num_of ps ++ [num_of v]) (map num_of qs ++ [num_of w])) by (apply Forall2_app; auto). unfold sign_of. 
    assert (B : forall h : bool -> bool, forallb (fun y => h (neg y)) (map num_of ps ++ [num_of v]) = forallb (fun y => h (neg y)) (map num_of qs ++ [num_of w])) by (intros h; clear -A; induction A; auto; cbn [forallb]; destruct H as [-> _]; now rewrite IHA).
    assert (B1 : forallb neg (map num_of ps ++ [num_of v]) = forallb neg (map num_of qs ++ [num_of w])) by exact (B (fun b => b)).
    assert (D : existsb neg (map num_of ps ++ [num_of v]) = existsb neg (map num_of qs ++ [num_of w])) by (clear -A; induction A; auto; cbn [existsb]; destruct H as [-> _]; now rewrite IHA).
    now rewrite B1, (B negb), D. }
  rewrite FZ, FR, !(same_cut _ g _ _ SC). destruct (first_rounding e); now rewrite !SG.
Qed.

Lemma zero_positive k s n u y : zsign k = Positive -> 0 <= p k -> convert k s n u = Num y -> is_zero y = true -> neg y = false.
Proof.
  intros ZS P. unfold convert. set (ex := last_bit k n u). set (r := round_div (rho k) n (ex - u)). destruct (Z.eqb_spec r 0) as [R|R]; cbn [orb].
  { rewrite ZS. intros H; inversion H; auto. }
  destruct (flushes k && _). { rewrite ZS. intros H; inversion H; auto. }
  destruct (_ <? _). { destruct (is_infinite k n); intros H; inversion H. unfold is_zero. cbn [sig]. pose proof (pow2_pos (p k + 1) ltac:(lia)). assert (2 ^ (p k + 1) = 2 * 2 ^ p k) by (rewrite Z.pow_add_r by lia; lia). pose proof (pow2_pos (p k) P). intros Q. apply Z.eqb_eq in Q. lia. }
  intros H; inversion H. unfold is_zero. cbn [sig]. intros Q. apply Z.eqb_eq in Q. lia.
Qed.

Lemma signed_zeros_same k y : zsign k = SumSign -> (is_zero y = true -> neg y = false) -> round_num (Floating k) y = round_num (Floating (signed_zeros k)) y.
Proof.
  intros ZS H. unfold round_num. cbn [round_to]. destruct (is_zero y) eqn:Z0.
  - rewrite (H eq_refl). unfold signed, is_zero in *. rewrite (H eq_refl). apply Z.eqb_eq in Z0. rewrite Z0. now apply unsigned_zero.
  - apply signed_same; auto. unfold is_zero in Z0. apply Z.eqb_neq in Z0. unfold signed. destruct (neg y); lia.
Qed.

Lemma positive_sign k s t n u : zsign k = Positive -> (n <> 0 -> s = t) -> convert k s n u = convert k t n u.
Proof. intros ZS H. destruct (Z.eq_dec n 0) as [->|N]; [|now rewrite H]. unfold convert. rewrite !round_div_0. cbn [Z.eqb orb]. now rewrite ZS. Qed.

Lemma forallb_in {A} (g h : A -> bool) l : (forall a, In a l -> g a = h a) -> forallb g l = forallb h l.
Proof. induction l as [|a l IH]; intros H; auto. cbn [forallb]. rewrite (H a) by (now left). f_equal. apply IH. intros. apply H. now right. Qed.

(** ** A sum's special values *)

Section Specials.
Variables (ct : circuit) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.

Lemma numbers_or_none l : numbers (map (val_in v) l) = None \/ Forall (fun y => truth m v (finite y) = true) l.
Proof.
  unfold numbers. destruct (forallb is_num (map (val_in v) l)) eqn:Q; [right|now left]. rewrite forallb_forall in Q. apply Forall_forall. intros y I.
  specialize (Q _ (in_map (val_in v) _ _ I)). apply (truth_finite m v). unfold val_in in *. destruct (v (nan y) =? 1); [easy|]. now destruct (v (inf y) =? 1).
Qed.

Lemma numbers_all l : Forall (fun y => truth m v (finite y) = true) l -> numbers (map (val_in v) l) = Some (map (num_in v) l).
Proof. intros F. rewrite <- numbers_map, map_map. f_equal. apply map_ext_in. intros y I. rewrite Forall_forall in F. apply (truth_finite m v). auto. Qed.

Lemma specials_none q l : operands q = l -> truth m v (is_nan q) = false -> truth m v (is_inf q) = false -> Forall (fun y => truth m v (finite y) = true) l.
Proof.
  intros <- A B. set (z := {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RZ; p := 0; emin := 0; emax := 0; overflow := Largest; flushes := false; tiny := false; zsign := Positive |} |}).
  destruct (special_values m v z (operands q)) as [_ [_ FN]]. exact (proj1 (FN A B)).
Qed.

Lemma special_none q : truth m v (is_nan q) = true \/ truth m v (is_inf q) = true -> numbers (map (val_in v) (operands q)) = None.
Proof.
  intros H. destruct (numbers_or_none (operands q)) as [N|F]; auto. exfalso. rewrite Forall_forall in F. assert (Z0 : forall y, In y (operands q) -> (v (nan y) =? 1) = false /\ (v (inf y) =? 1) = false).
  { intros y I. specialize (F y I). unfold finite in F. cbn [truth] in F. apply andb_prop in F. destruct F as [F1 F2]. apply negb_true_iff in F1, F2. auto. }
  unfold is_nan, is_inf, plus_inf, minus_inf in H. cbn [truth] in H. rewrite !truth_any, !existsb_map in H. cbn [truth] in H.
  rewrite !orb_true_iff, !andb_true_iff, !existsb_exists in H.
  destruct H as [[[y [I H]]|[[y [I H]] _]]|[[y [I H]]|[y [I H]]]]; destruct (Z0 y I) as [A B]; try (apply andb_prop in H; destruct H as [H _]); congruence.
Qed.

Theorem special_or_sum k x q l g : ending_ok m k x = true -> Forall (holds ct) (outcome_claims k x q) -> operands q = l ->
  (Forall (fun y => truth m v (finite y) = true) l -> exists s n u, g = convert k s n u /\ finished ct k x q v s n u) ->
  same_val (on_numbers (fun _ => g) (map (val_in v) l)) (val_in v (outcome x)).
Proof.
  intros EO CO OQ FN. set (z := {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := k |}).
  destruct (special_values m v z (operands q)) as [SN [SI FF]]. rewrite OQ in *.
  assert (SP : forall w, numbers (map (val_in v) l) = None -> sum_values z (map (val_in v) l) = w -> on_numbers (fun _ => g) (map (val_in v) l) = w) by (intros w N E; unfold on_numbers, sum_values in *; rewrite N in *; exact E).
  assert (NF := special_none q). rewrite OQ in NF.
  apply (finish ct k x q v EO CO SOL); unfold is_nan, is_inf, plus_inf, minus_inf in *; rewrite OQ in *.
  - intros H. apply SP; auto.
  - intros A B. apply SP; auto.
  - intros A B. destruct (FF A B) as [F _]. destruct (FN F) as [s [n [u [E H]]]]. exists s, n, u. split; [|exact H]. unfold on_numbers. rewrite (numbers_all l F). exact E.
Qed.

(** ** The words of NaN results: a factor's, an invalid product's, c's (ROCm emulator) *)

Definition products_nan (ps : list number) : formula := is_nan (ToRound ps (Num_ 0) Never Never (Num_ 0) 0 [] Never).
Definition factors_nan (ns : list nans_of) : formula := any_of (map (fun n => Either (present (fst n)) (present (snd n))) ns).
Definition then_c_term (w default : Z) (ns : list nans_of) (ps : list number) (cw : maybe_nan) : term :=
  If (factors_nan ns) (Num_ w) (If (products_nan ps) (Num_ default) (first_present (Num_ default) [cw])).

Lemma then_c_is how w default ns ps cw nv pv c : Forall2 (nans_like ct v) nv ns -> Forall2 same_val pv (map (val_in v) ps) ->
  value m v (then_c_term w default ns ps cw) = block_nan how (ProductsThenC w) default nv pv c (nan_in ct v cw).
Proof.
  intros FN FP. unfold then_c_term. change (value m v (If ?b ?s ?t)) with (if truth m v b then value m v s else value m v t). cbv beta. unfold block_nan.
  assert (H1 : truth m v (factors_nan ns) = existsb (fun n => match fst n with Some _ => true | None => false end || match snd n with Some _ => true | None => false end) nv).
  { unfold factors_nan. rewrite truth_any, existsb_map. clear FP. induction FN as [|a b l k [A B] F IH]; auto. cbn [existsb]. rewrite IH, A, B. unfold nan_in. cbn [truth]. fold m. now destruct (truth m v (present (fst b))), (truth m v (present (snd b))). }
  assert (H2 : truth m v (products_nan ps) = negb (forallb is_num pv) && Design.is_nan (special_sum pv)).
  { rewrite (numbers_some _ _ FP), (special_same _ _ FP). set (q := ToRound ps (Num_ 0) Never Never (Num_ 0) 0 [] Never).
    set (z := {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RZ; p := 0; emin := 0; emax := 0; overflow := Largest; flushes := false; tiny := false; zsign := Positive |} |}).
    destruct (special_values m v z ps) as [SN [SI FF]]. change (truth m v (is_nan q) = negb (forallb is_num (map (val_in v) ps)) && Design.is_nan (special_sum (map (val_in v) ps))).
    assert (NF := special_none q). cbn [q operands] in NF. unfold sum_values, numbers in *.
    destruct (truth m v (is_nan q)) eqn:QN.
    - specialize (NF (or_introl eq_refl)). specialize (SN QN). destruct (forallb is_num (map (val_in v) ps)); [discriminate|]. now rewrite SN.
    - destruct (truth m v (is_inf q)) eqn:QI.
      + specialize (NF (or_intror eq_refl)). specialize (SI QN QI). destruct (forallb is_num (map (val_in v) ps)); [discriminate|]. now rewrite SI.
      + destruct (FF QN QI) as [F _]. pose proof (numbers_all ps F) as NA. unfold numbers in NA. destruct (forallb is_num (map (val_in v) ps)); [reflexivity|discriminate]. }
  rewrite H1. destruct (existsb _ nv); [reflexivity|]. change (value m v (If (products_nan ps) ?s ?t)) with (if truth m v (products_nan ps) then value m v s else value m v t). rewrite H2. destruct (negb _ && _); [reflexivity|]. pose proof (first_is ct v default [cw]) as FI. fold m in FI. rewrite FI. cbn [map first_some]. now destruct (nan_in ct v cw).
Qed.
End Specials.

Section Complemented.
Variables (ct : circuit) (e : frame) (ns : list number) (x : front) (c : number) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis OK : complement_ok m e ns x c = true.
Hypothesis CL : Forall (holds ct) (complement_claims m e x c).
Let T := truth m v.
Let W := value m v.
Let f := frame_bits e.
Let d := frame_sum e.
Let k := first_out e.
Let c' := lowered (c_bits e - f) c.

Lemma complement_parts : front_ok m d f x = true /\ complement e = true /\ drops_c e = false /\ group_size e = None /\
  numbers_of x = ns ++ [c'] /\ (forall i, In i (front_nodes x) -> fits m v i).
Proof.
  unfold complement_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[A B] C0] D] G] H]. apply negb_true_iff in C0. apply numbers_eq in G. rewrite forallb_forall in H.
  split; [exact A|]. split; [exact B|]. split; [exact C0|]. split; [now destruct (group_size e)|]. split; [exact G|]. intros i J; apply (in_map_fits ct v SOL CIRC); now apply H.
Qed.

Lemma complement_in : Forall (holds ct) (aligned_claims m (fun _ => []) d f x) /\ Forall (holds ct) (framed_sum_claims x c).
Proof. unfold complement_claims in CL. rewrite !Forall_app in CL. exact CL. Qed.

Section Finite.
Hypothesis FIN : Forall (fun y => T (finite y) = true) (ns ++ [c]).
Let ts := map (num_in v) ns.
Let cn := num_in v c.

Let FX : Forall (fun y => T (finite y) = true) (numbers_of x).
Proof. destruct complement_parts as [_ [_ [_ [_ [-> _]]]]]. rewrite Forall_app in *. destruct FIN as [A B]. split; [exact A|]. constructor; [exact (Forall_inv B)|constructor]. Qed.
Let CX : forall a, In a (addends x) -> T (finite (of a)) = true -> forallb T ((fun _ : number => []) (of a)) = true. Proof. reflexivity. Qed.
Let E := v (top x) + top_low x.

Lemma alike_c : forall mm u, cut mm u (num_in v c') = cut mm u cn.
Proof. intros mm u. unfold cut, cn, num_in, c', lowered, signed, lsb; cbn [neg sig exp frac sign significand code low bits_below]. do 2 f_equal. lia. Qed.

Lemma terms_are : map (num_in v) (numbers_of x) = ts ++ [num_in v c'].
Proof. destruct complement_parts as [_ [_ [_ [_ [-> _]]]]]. now rewrite map_app. Qed.

Lemma grid_is : omax_list (grid_of e (c_bits e) true cn :: map (grid_of e f true) ts) = match largest d (ts ++ [num_in v c']) with Some z => Some (z - f) | None => None end.
Proof.
  assert (G : forall y, grid_of e f true y = match term_exponent d y with Some z => Some (z - f) | None => None end).
  { intros y. unfold grid_of, term_exponent, d, frame_sum. cbn [zero_exponent normalise]. destruct (is_zero y); cbn [negb]; [|reflexivity]. destruct (frame_zero e); reflexivity. }
  assert (GC : grid_of e (c_bits e) true cn = match term_exponent d (num_in v c') with Some z => Some (z - f) | None => None end).
  { unfold grid_of, term_exponent, d, frame_sum. cbn [zero_exponent normalise]. unfold cn, c', is_zero, num_in, lowered; cbn [sig exp significand code low]. fold f. destruct (v (significand c) =? 0); cbn [negb]; [destruct (frame_zero e)|]; try reflexivity; f_equal; lia. }
  rewrite (map_ext _ _ G), GC. unfold largest. rewrite map_app. cbn [map]. set (o := term_exponent d (num_in v c')). clearbody o. generalize ts. intros l0. clear. unfold omax_list. cbn [fold_right].
  induction l0 as [|y l0 IH]; cbn [map fold_right app].
  - destruct o; reflexivity.
  - rewrite <- IH in * || idtac. set (w := term_exponent d y) in *. set (r := fold_right omax None (map (fun y => match term_exponent d y with Some z => Some (z - f) | None => None end) l0)) in *.
    set (r' := fold_right omax None (map (term_exponent d) l0 ++ [o])) in *. clearbody w r r'. destruct o, w, r, r'; cbn [omax] in *; try discriminate; try (inversion IH; subst); try reflexivity; f_equal; lia.
Qed.

Lemma framed_tree_is t : (forall a, In a (framed_tree_claims x c t) -> In a (framed_sum_claims x c)) -> (forall i, In i (places t) -> (i < length (addends x))%nat) ->
  W (Sg (tree_node t)) = zsum (map (fun i => let a := nth i (addends x) absent in if xorb (v (sign (of a)) =? 1) (v (sign c) =? 1) then -1 - v (aligned a) else v (aligned a)) (places t)) /\
  - framed_bound x t <= W (Sg (tree_node t)) <= framed_bound x t.
Proof.
  destruct complement_in as [_ CS]. assert (use : forall a, In a (framed_sum_claims x c) -> forallb T (given a) = true -> T (goal a) = true) by (intros a I G; rewrite Forall_forall in CS; exact (CS a I v SOL G)).
  destruct complement_parts as [FO [_ [_ [_ [_ FI]]]]].
  induction t as [n i|n l IHl r IHr]; intros Q P.
  - assert (A : In (nth i (addends x) absent) (addends x)) by (apply nth_In, P; now left). cbn [framed_tree_claims] in Q. set (a := nth i (addends x) absent) in *.
    assert (H : T (Equal (Sg n) (If (other_sign c (of a)) (Minus (Num_ (-1)) (U (aligned a))) (U (aligned a)))) = true) by (apply (use (Claim [] _)); [apply Q; now left|reflexivity]).
    assert (B : T (AtMost (U (aligned a)) (Num_ (largest_aligned a))) = true) by (apply (use (Claim [] _)); [apply Q; right; now left|reflexivity]).
    unfold T in H, B. cbn [truth] in H, B. apply Z.eqb_eq in H. apply Z.leb_le in B. fold m in H, B. fold W in H, B. cbn [tree_node places map zsum fold_right framed_bound]. fold a.
    assert (A0 : 0 <= v (aligned a)) by (apply (FI (aligned a)); unfold front_nodes; do 2 right; apply in_flat_map; exists a; split; auto; simpl; auto).
    change (W (U (aligned a))) with (v (aligned a)) in B. change (W (Num_ (largest_aligned a))) with (largest_aligned a) in B.
    assert (V : W (If (other_sign c (of a)) (Minus (Num_ (-1)) (U (aligned a))) (U (aligned a))) = if xorb (v (sign (of a)) =? 1) (v (sign c) =? 1) then -1 - v (aligned a) else v (aligned a)).
    { unfold W. change (value m v (If ?b ?s ?t)) with (if truth m v b then value m v s else value m v t). unfold other_sign. rewrite truth_differ. reflexivity. }
    rewrite H, V. destruct (xorb _ _); lia.
  - destruct IHl as [SL BL]. { intros a I. apply Q. cbn [framed_tree_claims]. right. apply in_or_app. now left. } { intros i I. apply P. cbn [places]. apply in_or_app. now left. }
    destruct IHr as [SR BR]. { intros a I. apply Q. cbn [framed_tree_claims]. right. apply in_or_app. now right. } { intros i I. apply P. cbn [places]. apply in_or_app. now right. }
    assert (H : T (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) = true).
    { apply (use (Claim [within_framed x l; within_framed x r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))))). apply Q. now left.
      cbn [given forallb]. unfold T, within_framed. rewrite !(proj2 (truth_within m v _ _)) by (fold W; lia). reflexivity. }
    unfold T in H. cbn [truth] in H. apply Z.eqb_eq in H. fold m in H. fold W in H. cbn [tree_node places framed_bound]. change (W (Plus (Sg (tree_node l)) (Sg (tree_node r)))) with (W (Sg (tree_node l)) + W (Sg (tree_node r))) in H. split.
    + rewrite H, map_app, zsum_app. f_equal; [exact SL|exact SR].
    + lia.
Qed.

Let N := W (n_term x).

Lemma framed_n_is : N = (if forallb is_zero (ts ++ [cn]) then 0 else
    let s := zsum (map (fun a => if xorb (v (sign (of a)) =? 1) (v (sign c) =? 1) then -1 - v (aligned a) else v (aligned a)) (addends x)) in if v (sign c) =? 1 then - s else s) /\
  - framed_bound x (partials x) <= N <= framed_bound x (partials x).
Proof.
  destruct complement_in as [CA CS]. destruct complement_parts as [FO [_ [_ [_ [NU FI]]]]]. destruct (ok_parts ct d f x FO) as [_ [_ [_ [_ [_ PE]]]]].
  destruct (framed_tree_is (partials x)) as [S B]. { intros a I. now right. } { intros i I. apply (Permutation.Permutation_in _ (Permutation.Permutation_sym PE)) in I. apply in_seq in I. lia. }
  assert (H : T (Equal (n_term x) (framed_total x c)) = true).
  { rewrite Forall_forall in CS. apply (CS (Claim [within_framed x (partials x)] (Equal (n_term x) (framed_total x c))) (or_introl eq_refl) v SOL). cbn [given forallb]. fold m. unfold within_framed. rewrite (proj2 (truth_within m v _ _)) by (fold W; exact B). reflexivity. }
  unfold T in H. cbn [truth] in H. apply Z.eqb_eq in H. fold m in H. fold W in H. fold N in H.
  assert (AZ : T (all_zeros x) = forallb is_zero (ts ++ [cn])).
  { unfold T, all_zeros. rewrite truth_all, forallb_map.
    transitivity (forallb is_zero (map (num_in v) (numbers_of x))).
    - unfold numbers_of. rewrite !forallb_map. apply forallb_in. intros a A. exact (zero_is ct (fun _ => []) d f x v CA SOL CX FX a A).
    - rewrite terms_are, !forallb_app. reflexivity. }
  set (R := W (Sg (tree_node (partials x)))) in *.
  assert (V : W (framed_total x c) = if forallb is_zero (ts ++ [cn]) then 0 else if v (sign c) =? 1 then 0 - R else R).
  { transitivity (if T (all_zeros x) then 0 else if v (sign c) =? 1 then 0 - R else R); [reflexivity|now rewrite AZ]. }
  rewrite V in H. clear V.
  assert (RE : zsum (map (fun i => let a := nth i (addends x) absent in if xorb (v (sign (of a)) =? 1) (v (sign c) =? 1) then -1 - v (aligned a) else v (aligned a)) (places (partials x))) =
    zsum (map (fun a => if xorb (v (sign (of a)) =? 1) (v (sign c) =? 1) then -1 - v (aligned a) else v (aligned a)) (addends x))).
  { rewrite <- (zsum_perm _ _ (Permutation.Permutation_map _ PE)). f_equal. clear. generalize absent. intros z. generalize (addends x). intros l0.
    assert (X : forall j (g : addend -> Z), map (fun i => g (nth (i - j) l0 z)) (seq j (length l0)) = map g l0).
    { induction l0 as [|a l0 IH]; intros j g; simpl; auto. rewrite Nat.sub_diag. f_equal. rewrite <- (IH (S j) g). apply map_ext_in. intros i I. apply in_seq in I. replace (i - j)%nat with (S (i - S j)) by lia. reflexivity. }
    rewrite <- (X 0%nat). apply map_ext. intros i. now rewrite Nat.sub_0_r. }
  rewrite S, RE in H. rewrite S, RE in B. cbv zeta. rewrite H. destruct (forallb is_zero (ts ++ [cn])); [|destruct (v (sign c) =? 1)]; split; try reflexivity; try lia.
Qed.

Let u := E - f.

Lemma complement_finite : counted ct (complement_round e ns x c) v N u /\ Z.abs N <= bound (complement_round e ns x c) /\ forallb T (known (complement_round e ns x c)) = true /\
  exists s, Design.framed_sum e ts cn = frame_rounded e s N u /\ (N <> 0 -> s = (N <? 0)).
Proof.
  destruct complement_in as [CA CS]. destruct complement_parts as [FO [CP [DC [GS [NU FI]]]]]. destruct framed_n_is as [NI NB].
  assert (FN : forall i, In i (front_nodes x) -> fits m v i) by (intros i I; now apply FI).
  destruct (ok_parts ct d f x FO) as [Fb [_ [_ [_ [_ PE]]]]].
  assert (CT : counted ct (complement_round e ns x c) v N u). { constructor; try reflexivity. unfold u, E. cbn [complement_round unit]. unfold unit_term. fold f. cbn [value]. lia. }
  assert (TB : T (AtMost (U (top x)) (Num_ (top_span x))) = true).
  { destruct (tops_are ct (fun _ => []) d f x v FO CA SOL CX FX) as [TA _].
    rewrite Forall_forall in CA. apply (CA (Claim (in_tops (tops x)) (AtMost (U (top x)) (Num_ (top_span x))))); [|exact SOL|exact TA]. unfold aligned_claims. do 2 (apply in_or_app; right). unfold top_claims. apply in_or_app. left. right; now left. }
  split; [exact CT|]. split; [cbn [complement_round bound]; lia|]. split.
  { cbn [complement_round known forallb]. rewrite TB, andb_true_r. apply (truth_within m v). fold W. fold N. lia. }
  (* the counts *)
  assert (AL : forall a, In a (addends x) -> cut (frame_mode e) u (num_in v (of a)) = with_sign (v (sign (of a)) =? 1) (v (aligned a)) /\ (is_zero (num_in v (of a)) = true -> v (aligned a) = 0)).
  { intros a A. destruct (aligned_is ct (fun _ => []) d f x v FO CA SOL FN CX FX a A) as [_ H]. exact H. }
  assert (SPLIT : exists la lc, addends x = la ++ [lc] /\ map of la = ns /\ of lc = c').
  { unfold numbers_of in NU. destruct (exists_last (l := addends x)) as [la [lc E1]]. { intros Q. rewrite Q in NU. now destruct ns. }
    exists la, lc. rewrite E1, map_app in NU. cbn [map] in NU. apply app_inj_tail in NU. tauto. }
  destruct SPLIT as [la [lc [E1 [E2 E3]]]].
  set (g := match omax_list (grid_of e (c_bits e) true cn :: map (grid_of e (frame_bits e) (negb false)) ts) with Some g => g | None => 0 end).
  assert (SZ : forallb is_zero (ts ++ [cn]) = false -> g = u \/ False).
  { intros NZ. left. unfold g. cbn [negb]. fold f. rewrite grid_is, <- terms_are. destruct (largest_is ct (fun _ => []) d f x v FO CA SOL CX FX) as [->|[_ H]]; [reflexivity|].
    exfalso. pose proof (all_zero_absent ct (fun _ => []) d f x v CA SOL CX FX H) as AZ. rewrite terms_are in AZ.
    assert (Q : forallb is_zero (ts ++ [num_in v c']) = true) by (apply forallb_forall; exact AZ). rewrite forallb_app in Q, NZ. cbn [forallb] in Q, NZ. change (is_zero (num_in v c')) with (is_zero cn) in Q. congruence. }
  unfold Design.framed_sum, frame_rounded. rewrite GS, DC. cbn [andb]. fold g. cbv zeta.
    destruct (forallb is_zero (ts ++ [cn])) eqn:NZ.
    - rewrite NI. exists (match first_rounding e with Some h => sign_of (rho h) 0 (ts ++ [cn]) [0] | None => sign_of (rho (frame_out e)) 0 (ts ++ [cn]) [0] end). split; [|easy].
      change (zsum [0]) with 0. destruct (first_rounding e) as [h|]; [now rewrite (convert_zero h _ g u)|apply convert_zero].
    - destruct (SZ eq_refl) as [-> |[]].
      assert (SM : zsum (frame_counts e u ts cn ++ [cut (frame_mode e) u cn]) = N).
      { rewrite NI, E1, zsum_app. unfold frame_counts. rewrite GS, CP. cbn [andb]. unfold ts. rewrite <- E2, map_map, map_map. rewrite map_app, zsum_app. cbn [map].
        assert (LC : cut (frame_mode e) u cn = with_sign (v (sign c) =? 1) (v (aligned lc))).
        { rewrite <- (alike_c (frame_mode e) u), <- E3. destruct (AL lc) as [-> _]; [rewrite E1; apply in_or_app; right; now left|]. now rewrite E3. }
        assert (LS : (v (sign (of lc)) =? 1) = (v (sign c) =? 1)) by (now rewrite E3). rewrite LC, LS, xorb_nilpotent. change (neg cn) with (v (sign c) =? 1).
        assert (AL' : forall a, In a la -> cut (frame_mode e) u (num_in v (of a)) = with_sign (v (sign (of a)) =? 1) (v (aligned a))) by (intros a A; apply AL; rewrite E1; apply in_or_app; now left).
        clear -AL'. set (cs := v (sign c) =? 1). clearbody cs.
        assert (IN : forall l0, (forall a, In a l0 -> In a la) -> zsum (map (fun a => cut (frame_mode e) u (num_in v (of a)) + (if xorb (neg (num_in v (of a))) cs then if cs then 1 else -1 else 0)) l0) =
          (if cs then - zsum (map (fun a => if xorb (v (sign (of a)) =? 1) cs then -1 - v (aligned a) else v (aligned a)) l0) else zsum (map (fun a => if xorb (v (sign (of a)) =? 1) cs then -1 - v (aligned a) else v (aligned a)) l0))).
        { induction l0 as [|a l0 IH]; intros I0; [now destruct cs|]. cbn [map]. unfold zsum in *. cbn [fold_right]. rewrite IH by (intros; apply I0; now right). rewrite (AL' a (I0 a (or_introl eq_refl))). unfold num_in. cbn [neg]. unfold with_sign.
          destruct cs, (v (sign (of a)) =? 1); cbn [xorb]; lia. }
        rewrite (IN la (fun a H => H)). unfold zsum. cbn [fold_right]. unfold with_sign. destruct cs; lia. }
      rewrite SM. destruct (first_rounding e); (eexists; split; [reflexivity|]; intros NZ'; now apply sign_nonzero).
Qed.
End Finite.
End Complemented.

Section Sound.
Variables (ct : circuit) (e : frame) (ns : list number) (q : framed_plan) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis OK : framed_ok m e ns q = true.
Hypothesis CL : Forall (holds ct) (framed_claims m e ns q).
Let T := truth m v.
Let W := value m v.
Let c := frame_c q.
Let f := frame_bits e.
Let k := first_out e.

Lemma framed_parts : zsign k = Positive /\ ending_ok m k (frame_ending q) = true /\ (forall i, In i (ending_nodes (frame_ending q)) -> fits m v i) /\
  match first_rounding e, narrowed q with
  | None, None => True
  | Some _, Some (s, z) => rounding_ok m (signed_zeros (frame_out e)) (outcome (frame_ending q)) z = true /\ zsign (frame_out e) = SumSign
  | _, _ => False
  end.
Proof.
  unfold framed_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[_ E] F] H] I]. rewrite forallb_forall in H.
  split; [unfold unsigned in E; fold k in E; now destruct (zsign k)|]. split; [exact F|]. split; [intros i J; apply (in_map_fits ct v SOL CIRC); now apply H|].
  destruct (first_rounding e), (narrowed q) as [[s z]|]; try easy. apply andb_prop in I. destruct I as [I1 I2]. split; auto. now destruct (zsign (frame_out e)).
Qed.

Lemma framed_in : Forall (holds ct) (kept_claims k (frame_ending q) (framed_round e ns q)) /\ Forall (holds ct) (outcome_claims k (frame_ending q) (framed_round e ns q)) /\
  Forall (holds ct) (match narrowed q with Some (s, z) => rounding_claims m (signed_zeros (frame_out e)) (outcome (frame_ending q)) s z | None => [] end).
Proof. unfold framed_claims in CL. rewrite !Forall_app in CL. tauto. Qed.

(** The sum and the exponent of its unit. *)
Let N := W (match frame_front q with Complements x => n_term x | InGroups g => Sg (grouped_total g) end).
Let u := match frame_front q with Complements x => v (top x) + top_low x | InGroups g => W (level_term (grouped_level g)) end - f.

Lemma framed_operands : operands (framed_round e ns q) = ns ++ [c].
Proof.
  unfold framed_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[A _] _] _] _]. unfold framed_round. destruct (frame_front q) as [x|g]; [reflexivity|]. apply andb_prop in A. destruct A as [_ A]. apply number_eq in A.
  cbn [groups_round operands]. now rewrite A.
Qed.

Lemma framed_sign : T (sum_sign (framed_round e ns q)) = (N <? 0).
Proof. unfold framed_round, N. now destruct (frame_front q). Qed.

Lemma framed_finite : Forall (fun y => T (finite y) = true) (ns ++ [c]) ->
  counted ct (framed_round e ns q) v N u /\ Z.abs N <= bound (framed_round e ns q) /\ forallb T (known (framed_round e ns q)) = true /\
  Design.framed_sum e (map (num_in v) ns) (num_in v c) = frame_rounded e (N <? 0) N u.
Proof.
  intros F. destruct framed_parts as [ZS _]. unfold framed_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[A _] _] _] _]. pose proof CL as C1. unfold framed_claims in C1. rewrite Forall_app in C1. destruct C1 as [C1 _].
  assert (H : counted ct (framed_round e ns q) v N u /\ Z.abs N <= bound (framed_round e ns q) /\ forallb T (known (framed_round e ns q)) = true /\
    exists s, Design.framed_sum e (map (num_in v) ns) (num_in v c) = frame_rounded e s N u /\ (N <> 0 -> s = (N <? 0))).
  { unfold framed_round, N, u. destruct (frame_front q) as [x|g].
    - exact (complement_finite ct e ns x c v SOL CIRC A C1 F).
    - apply andb_prop in A. destruct A as [A1 A2]. apply number_eq in A2. fold c in A2. rewrite <- A2 in F |- *. exact (groups_finite ct e ns g v SOL CIRC A1 C1 F). }
  destruct H as [H1 [H2 [H3 [s [-> H4]]]]]. repeat split; auto; try apply H1. unfold frame_rounded. unfold k, first_out in ZS. destruct (first_rounding e) as [h|]; now rewrite (positive_sign _ s (N <? 0) N u ZS H4).
Qed.

(** The first rounding's number, with its special values. *)
Let R1 := on_numbers (fun _ => convert k (N <? 0) N u) (map (val_in v) (ns ++ [c])).

Lemma framed_first : same_val R1 (val_in v (outcome (frame_ending q))).
Proof.
  destruct framed_parts as [_ [EO [FI _]]]. destruct framed_in as [CK [CO _]].
  apply (special_or_sum ct v SOL k (frame_ending q) (framed_round e ns q) (ns ++ [c]) _ EO CO framed_operands). intros F. destruct (framed_finite F) as [CT [NB [KN _]]].
  pose proof (kept_is ct k (frame_ending q) (framed_round e ns q) v EO CK SOL FI _ _ CT NB KN) as KF.
  do 3 eexists. split; [reflexivity|]. pose proof CT as [CT1 CT2 CT3 CT4]. pose proof framed_sign. constructor; auto.
  intros TI Nz R. exact (tiny_direct ct k (frame_ending q) (framed_round e ns q) v EO CK SOL FI _ _ CT NB KN TI Nz R).
Qed.

(** Sums in c's frame, or of groups, and one or two roundings: the circuit gives what the specification gives. *)
Theorem framed_sound : same_val (framed_value e (map (val_in v) ns) (val_in v c)) (val_in v (framed_outcome q)).
Proof.
  destruct framed_parts as [ZS [EO [_ NP]]]. destruct framed_in as [_ [_ CR]]. pose proof framed_first as F1. unfold framed_outcome.
  assert (P0 : 0 <= p k) by (unfold ending_ok in EO; rewrite !andb_true_iff, !Z.leb_le in EO; tauto).
  assert (EV : framed_value e (map (val_in v) ns) (val_in v c) = match first_rounding e with None => R1 | Some _ => rounded_value (signed_zeros (frame_out e)) R1 end).
  { unfold framed_value, R1, on_numbers. change [val_in v c] with (map (val_in v) [c]). rewrite <- map_app. destruct (numbers_or_none ct v (ns ++ [c])) as [NN|F].
    - rewrite NN. destruct (first_rounding e); [|reflexivity]. unfold special_sum. repeat match goal with |- context [existsb ?a ?b] => destruct (existsb a b) end; reflexivity.
    - rewrite (numbers_all ct v _ F). pose proof F as F'. rewrite Forall_app in F'. destruct F' as [F2 F3]. apply Forall_inv in F3. destruct (framed_finite F) as [_ [_ [_ EQ]]].
      assert (MN : map num_of (map (val_in v) ns) = map (num_in v) ns) by (rewrite map_map; apply map_ext_in; intros y I; rewrite Forall_forall in F2; now rewrite (proj1 (truth_finite m v y) (F2 y I))).
      apply (truth_finite m v) in F3. rewrite F3, MN. cbn [num_of]. rewrite EQ. unfold frame_rounded, k, first_out. destruct (first_rounding e) as [h|] eqn:FR; [|reflexivity]. destruct NP as [_ NP] || (destruct (narrowed q) as [[s0 z0]|]; [destruct NP as [_ NP]|easy]).
      pose proof ZS as ZH. pose proof P0 as PH. unfold k, first_out in ZH, PH. rewrite FR in ZH, PH.
      match goal with |- context [convert h ?s ?n ?u] => destruct (convert h s n u) as [y| |] eqn:CV end; try reflexivity. cbn [rounded_value].
      apply signed_zeros_same; auto. intros Z0. exact (zero_positive h _ _ _ y ZH PH CV Z0). }
  rewrite EV. destruct (first_rounding e), (narrowed q) as [[s z]|]; try easy. destruct NP as [RO_ _].
  exact (rounding_sound ct v SOL CIRC (signed_zeros (frame_out e)) (outcome (frame_ending q)) s z R1 RO_ CR F1).
Qed.

Lemma framed_nonneg ps w y : framed_value e ps w = Num y -> 0 <= sig y.
Proof.
  destruct framed_parts as [ZS [EO [_ NP]]]. assert (P0 : 0 <= p k) by (unfold ending_ok in EO; rewrite !andb_true_iff, !Z.leb_le in EO; tauto).
  unfold framed_value, on_numbers. destruct (numbers _).
  2: { unfold special_sum. repeat match goal with |- context [existsb ?a ?b] => destruct (existsb a b) end; easy. }
  unfold Design.framed_sum. cbv zeta. unfold k, first_out in *. destruct (first_rounding e) as [h|]; [|now apply convert_nonneg].
  destruct (narrowed q) as [[s z]|]; [|easy]. destruct NP as [RO_ _]. unfold rounding_ok, ending_ok in RO_. rewrite !andb_true_iff, !Z.leb_le in RO_. cbn [signed_zeros p] in RO_.
  match goal with |- context [convert h ?s ?n ?u] => destruct (convert h s n u) as [a| |] end; try easy. unfold round_num. cbn [round_to]. apply convert_nonneg. tauto.
Qed.

Lemma framed_usual_true : (v (nan (framed_outcome q)) =? 1) = false -> (v (inf (framed_outcome q)) =? 1) = false -> forallb T (framed_usual m e ns q) = true.
Proof.
  destruct framed_parts as [_ [EO [FI NP]]]. destruct framed_in as [CK [CO CR]]. unfold framed_outcome, framed_usual. destruct (narrowed q) as [[s z]|].
  - destruct (first_rounding e); [|easy]. destruct NP as [RO_ _]. exact (rounding_usual ct v SOL CIRC (signed_zeros (frame_out e)) _ _ _ RO_ CR).
  - intros NN I. destruct (inf_not_num ct k (frame_ending q) (framed_round e ns q) v CO SOL NN I) as [A B]. pose proof (specials_none ct v (framed_round e ns q) (ns ++ [c]) framed_operands A B) as F.
    destruct (framed_finite F) as [CT [NB [KN _]]]. pose proof (kept_is ct k (frame_ending q) (framed_round e ns q) v EO CK SOL FI _ _ CT NB KN) as KF. pose proof CT as [CT1 CT2 CT3 CT4]. pose proof framed_sign.
    eapply (usual_is ct k (frame_ending q) (framed_round e ns q) v _ _ _ A B). constructor; eauto.
    intros TI Nz R. exact (tiny_direct ct k (frame_ending q) (framed_round e ns q) v EO CK SOL FI _ _ CT NB KN TI Nz R).
Qed.
End Sound.
