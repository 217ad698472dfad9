(** Groups of products that are aligned, cut and added by themselves, in a circuit: their sums and c, which has fraction bits of
    its own, are rounded down at the largest exponent and added. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage Products After RoundDown.
Import ListNotations.
Open Scope Z_scope.

(** A group's sum, and what is kept of it at the largest exponent. *)
Record group_sum := GroupSum { group_front : front; group_floored : floored }.
(** The groups' sums, c, both at the largest exponent, and their sum. *)
Record groups_plan := GroupsPlan { group_sums : list group_sum; grouped_c : operand; grouped_c_floored : floored; grouped_c_largest : Z; grouped_level : level; grouped_total : positive }.

(** A number with its exponent and as many fraction bits lowered. *)
Definition lowered (by_ : Z) (r : number) : number := Number (sign r) (significand r) (code r) (low r - by_) (bits_below r - by_) (nan r) (inf r).

Definition first_out (e : frame) : conversion := match first_rounding e with Some k => k | None => frame_out e end.
Definition frame_rounded (e : frame) (s : bool) (n u : Z) : val :=
  match first_rounding e with
  | None => convert (frame_out e) s n u
  | Some h => match convert h s n u with Num y => round_num (Floating (frame_out e)) y | w => w end
  end.

Fixpoint groups_eqb (l r : list (list number)) : bool :=
  match l, r with [], [] => true | x :: l, y :: r => numbers_eqb x y && groups_eqb l r | _, _ => false end.
Lemma groups_eq l : forall r, groups_eqb l r = true -> l = r.
Proof. induction l as [|x l IH]; destruct r as [|y r]; simpl; try easy. rewrite andb_true_iff. intros [A B]. f_equal; [now apply numbers_eq|now apply IH]. Qed.

Section Claims.
Variables (m : widths) (e : frame) (ns : list number) (g : groups_plan).
Let f := frame_bits e.
Let c := its (grouped_c g).
Let none := Is (its_zero (grouped_c g)).
Let c' := lowered (c_bits e - f) c.
Let l := grouped_level g.
Let y := grouped_c_floored g.

(** The sum that has a group's largest exponent and cuts. *)
Definition group_design : sum := {| fraction_bits := Some f; alignment := frame_mode e; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := first_out e |}.
Definition group_base : Z := match group_sums g with x :: _ => tops_low (group_front x) | [] => low c' end.

(** The exponents of which the largest is taken, and what is known of their codes. *)
Definition c_enters : term :=
  match frame_zero e with ZeroAt z => If none (Num_ z) (exponent c') | ZeroNone => If none (Num_ group_base) (exponent c') | ZeroOwn => exponent c' end.
Definition c_in_span : formula := AtMost (U (code c)) (Num_ (its_span (grouped_c g))).
Definition entered : list term := map (fun x => top_term (group_front x)) (group_sums g) ++ [c_enters].
Definition in_spans : list formula := map (fun x => AtMost (U (top (group_front x))) (Num_ (top_span (group_front x)))) (group_sums g) ++ [c_in_span].
Definition level_claims : list claim :=
  map (Claim in_spans) (all_of (map (fun t => AtMost t (level_term l)) entered) :: any_of (map (Equal (level_term l)) entered) :: level_known l).

(** c, which may vanish. *)
Definition gone : formula :=
  if drops_c e
  then let up := Z.max 0 (f - bits_below c') in
    Both (Less (Num_ (emin (frame_out e) + f)) (level_term l))
      (Less (Times (U (significand c)) (Num_ (2 ^ up))) (Times (Shift (Num_ 1) (Low (U (distance y)) (Num_ (width_in m (significand c) + up)))) (Num_ (2 ^ Z.max 0 (bits_below c' - f)))))
  else Never.
Definition vanishing_claims : list claim :=
  [Claim [finite c] c_in_span;
   Claim [finite c] (Iff none (Equal (U (significand c)) (Num_ 0)));
   Claim (Negation none :: AtMost (exponent c') (level_term l) :: c_in_span :: level_known l) (Equal (U (distance y)) (Minus (level_term l) (exponent c')));
   Claim [Negation gone] (floor_formula m f c' (distance y) (kept_node y));
   Claim [gone] (Equal (U (kept_node y)) (Num_ 0));
   Claim [] (AtMost (U (kept_node y)) (Num_ (grouped_c_largest g)))].

(** The sum. *)
Definition kept_c : term := signed_term (sign c) (U (kept_node y)).
Definition kept_groups : term :=
  match map (fun x => Sg (kept_node (group_floored x))) (group_sums g) with [] => Num_ 0 | t :: r => fold_left Plus r t end.
Definition group_bound (x : group_sum) : Z := p_bound (front_part (group_front x)).
Definition groups_bound : Z := zsum (map group_bound (group_sums g)) + grouped_c_largest g.
Definition groups_total_claim : claim :=
  Claim (map (fun x => within (group_bound x) (Sg (kept_node (group_floored x)))) (group_sums g) ++ [AtMost (U (kept_node y)) (Num_ (grouped_c_largest g))])
    (Equal (Sg (grouped_total g)) (Plus kept_groups kept_c)).

Definition groups_claims : list claim :=
  flat_map (fun x => front_claims m (fun _ => []) group_design f (group_front x)) (group_sums g) ++ level_claims ++
  flat_map (fun x => floor_claims m (front_part (group_front x)) 0 l (group_floored x)) (group_sums g) ++ vanishing_claims ++ [groups_total_claim].

Definition groups_round : to_round :=
  let n := Sg (grouped_total g) in
  ToRound (ns ++ [c]) (Abs n) (Equal n (Num_ 0)) (Less n (Num_ 0)) (Plus (U (e_node l)) (Num_ (e_low l - f))) groups_bound
    (within groups_bound n :: level_known l) (Less n (Num_ 0)).

(** What is computed beside the claims. *)
Definition group_ok (x : group_sum) : bool :=
  front_ok m group_design f (group_front x) && (tops_low (group_front x) =? group_base) && (1 <=? width_in m (total_node (group_front x))) &&
  forallb (in_circuit m) (distance (group_floored x) :: front_nodes (group_front x)).
Definition groups_ok : bool :=
  match frame_mode e with RD => true | _ => false end &&
  match group_size e with
  | Some size => let l := map (fun x => numbers_of (group_front x)) (group_sums g) in numbers_eqb (concat l) ns && groups_eqb l (cut_list (length ns) size ns)
  | None => false
  end && forallb group_ok (group_sums g) && (group_base <=? low c') && forallb (in_circuit m) [significand c; code c; distance y; kept_node y].
End Claims.

(** * Sums of groups *)

Lemma cut_list_forall2 {A B} (R : A -> B -> Prop) fuel n l r : Forall2 R l r -> Forall2 (Forall2 R) (cut_list fuel n l) (cut_list fuel n r).
Proof.
  assert (G : forall k (l : list A) (r : list B), Forall2 R l r -> Forall2 R (firstn k l) (firstn k r) /\ Forall2 R (skipn k l) (skipn k r)).
  { induction k as [|k IH]; intros a b F; [split; [constructor|assumption]|]. destruct F as [|x y a b H F]; [split; constructor|]. cbn. destruct (IH a b F). split; [constructor|]; auto. }
  revert l r. induction fuel as [|fuel IH]; intros l r F; [constructor|]. destruct F as [|x y l r H F]; [constructor|].
  destruct (G n (x :: l) (y :: r) ltac:(now constructor)). cbn [cut_list]. constructor; auto.
Qed.

Definition live (ts : list num) : list num := filter (fun x => negb (is_zero x)) ts.

Lemma live_largest d ts : zero_exponent d = ZeroNone -> normalise d = false -> omax_list (map (fun x => Some (exp x)) (live ts)) = largest d ts.
Proof.
  intros Z0 N. unfold omax_list, largest, live. induction ts as [|x r IH]; [reflexivity|]. cbn [filter map fold_right]. unfold term_exponent at 1. rewrite Z0, N, <- IH. now destruct (is_zero x).
Qed.

Lemma live_counts mm u ts : zsum (map (cut mm u) (live ts)) = zsum (map (cut mm u) ts).
Proof.
  unfold live. induction ts as [|x r IH]; [reflexivity|]. cbn [filter map]. destruct (is_zero x) eqn:Q; cbn [negb map]; unfold zsum in *; cbn [fold_right]; rewrite IH; [rewrite cut_zero by exact Q; lia|reflexivity].
Qed.

Lemma omax_list_is l z : (forall o, In o l -> ole o (Some z)) -> In (Some z) l -> omax_list l = Some z.
Proof.
  intros L I. apply ole_antisym.
  - clear I. unfold omax_list. induction l as [|o r IH]; [easy|]. cbn [fold_right]. apply omax_le; [apply L; now left|]. apply IH. intros. apply L. now right.
  - clear L. unfold omax_list. induction l as [|o r IH]; [easy|]. cbn [fold_right]. destruct I as [->|I]; [apply ole_max_l|]. eapply ole_trans; [now apply IH|]. apply ole_max_r.
Qed.

(** What truncation leaves nothing of is less than a unit. *)
Lemma cut_to_zero f s g neg_ e fr : 0 <= s -> 0 <= g -> let u := Z.max 0 (f - fr) in let dn := Z.max 0 (fr - f) in
  (cut RZ (s + e - f) {| neg := neg_; sig := g; exp := e; frac := fr |} =? 0) = (g * 2 ^ u <? 2 ^ s * 2 ^ dn).
Proof.
  intros S G u dn. assert (PU : 0 < 2 ^ u) by (apply pow2_pos; unfold u; lia). assert (PD : 0 < 2 ^ dn) by (apply pow2_pos; unfold dn; lia). assert (PS : 0 < 2 ^ s) by (apply pow2_pos; lia).
  set (w := 2 ^ s * 2 ^ dn). assert (PW : 0 < w) by (unfold w; nia). set (a := g * 2 ^ u / w). pose proof (Z.mul_div_le (g * 2 ^ u) w PW) as D1. pose proof (Z.mul_succ_div_gt (g * 2 ^ u) w PW) as D2. fold a in D1, D2.
  assert (A0 : 0 <= a) by (apply Z.div_pos; nia).
  rewrite (cut_floor f s a g neg_ e fr S G A0) by (fold u dn; rewrite <- !Z.mul_assoc; fold w; lia).
  assert (E : (with_sign neg_ a =? 0) = (a =? 0)) by (unfold with_sign; destruct neg_; lia). rewrite E.
  destruct (Z.eqb_spec a 0) as [Q|Q], (Z.ltb_spec (g * 2 ^ u) w) as [L|L]; auto; exfalso; nia.
Qed.

(** * The claims are enough *)

Section Sound.
Variables (ct : circuit) (e : frame) (ns : list number) (g : groups_plan) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis OK : groups_ok m e ns g = true.
Hypothesis CL : Forall (holds ct) (groups_claims m e g).
Let T := truth m v.
Let W := value m v.
Let f := frame_bits e.
Let d := group_design e.
Let c := its (grouped_c g).
Let none := Is (its_zero (grouped_c g)).
Let c' := lowered (c_bits e - f) c.
Let l := grouped_level g.
Let y := grouped_c_floored g.
Let base := group_base e g.
Let xs := group_sums g.
Let N := W (Sg (grouped_total g)).
Let L := W (level_term l).

Lemma groups_parts : frame_mode e = RD /\ (exists size, group_size e = Some size /\ map (fun x => numbers_of (group_front x)) xs = cut_list (length ns) size ns) /\
  ns = concat (map (fun x => numbers_of (group_front x)) xs) /\
  (forall x, In x xs -> front_ok m d f (group_front x) = true /\ tops_low (group_front x) = base /\ 1 <= width_in m (total_node (group_front x)) /\
    (forall i, In i (distance (group_floored x) :: front_nodes (group_front x)) -> fits m v i)) /\
  base <= low c' /\ (forall i, In i [significand c; code c; distance y; kept_node y] -> fits m v i).
Proof.
  unfold groups_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[A B] C0] D] F]. rewrite forallb_forall in C0, F. apply Z.leb_le in D.
  split; [now destruct (frame_mode e)|]. destruct (group_size e) as [size|]; [|easy]. cbv zeta in B. apply andb_prop in B. destruct B as [B1 B2]. apply numbers_eq in B1. apply groups_eq in B2.
  split; [now exists size|]. split; [symmetry; exact B1|]. split; [|split; [exact D|intros i I; apply (in_map_fits ct v SOL CIRC); now apply F]].
  intros x I. specialize (C0 x I). unfold group_ok in C0. rewrite !andb_true_iff in C0. destruct C0 as [[[G1 G2] G3] G4]. apply Z.eqb_eq in G2. apply Z.leb_le in G3. rewrite forallb_forall in G4.
  repeat split; auto; apply (in_map_fits ct v SOL CIRC); now apply G4.
Qed.

Lemma groups_in : (forall x, In x xs -> Forall (holds ct) (front_claims m (fun _ => []) d f (group_front x)) /\ Forall (holds ct) (floor_claims m (front_part (group_front x)) 0 l (group_floored x))) /\
  (forall a, In a (level_claims e g) -> forallb T (given a) = true -> T (goal a) = true) /\
  (forall j a, nth_error (vanishing_claims m e g) j = Some a -> forallb T (given a) = true -> T (goal a) = true) /\
  (forallb T (given (groups_total_claim g)) = true -> T (goal (groups_total_claim g)) = true).
Proof.
  unfold groups_claims in CL. rewrite !Forall_app in CL. destruct CL as [A [B [C0 [D E]]]]. rewrite !Forall_forall in *.
  split; [|split; [|split]].
  - intros x I. split; apply Forall_forall; intros a J; [apply A|apply C0]; apply in_flat_map; eauto.
  - intros a I. exact (B a I v SOL).
  - intros j a I. exact (D a (nth_error_In _ _ I) v SOL).
  - exact (E _ (or_introl eq_refl) v SOL).
Qed.

Section Finite.
Hypothesis FIN : Forall (fun r => T (finite r) = true) (ns ++ [c]).
Let ts := map (num_in v) ns.
Let cn := num_in v c.
Let tsx x := map (num_in v) (numbers_of (group_front x)).

Let FNS : Forall (fun r => T (finite r) = true) ns. Proof. rewrite Forall_app in FIN. tauto. Qed.
Let FC : T (finite c) = true. Proof. rewrite Forall_app in FIN. exact (Forall_inv (proj2 FIN)). Qed.

Let FX x : In x xs -> Forall (fun r => T (finite r) = true) (numbers_of (group_front x)).
Proof.
  intros I. destruct groups_parts as [_ [_ [NC _]]]. apply Forall_forall. intros r R. pose proof FNS as F. rewrite Forall_forall in F. apply F. rewrite NC. apply in_concat. exists (numbers_of (group_front x)). split; auto.
  now apply (in_map (fun x => numbers_of (group_front x))).
Qed.

Lemma group_part x : In x xs -> part_is T W f base (truncated_at d (tsx x) false) (front_part (group_front x)).
Proof.
  intros I. destruct groups_parts as [_ [_ [_ [GP _]]]]. destruct (GP x I) as [FO [TB [_ FI]]]. destruct groups_in as [GI _]. destruct (GI x I) as [FCL _].
  apply (front_is ct d f base v SOL (group_front x) false); auto. intros i J. apply FI. now right.
Qed.

Lemma spans_are : forallb T (in_spans g) = true.
Proof.
  unfold in_spans. rewrite forallb_app, forallb_map. apply andb_true_iff. split.
  - apply forallb_forall. intros x I. pose proof (pi_known _ _ (group_part x I)) as K. cbn [front_part p_known forallb] in K. now rewrite andb_true_r in K.
  - cbn [forallb]. rewrite andb_true_r. destruct groups_in as [_ [_ [V _]]]. apply (V 0%nat _ eq_refl). cbn [given forallb]. fold c. now rewrite FC.
Qed.

Lemma level_is : forallb T (level_known l) = true /\ (forall t, In t (entered e g) -> W t <= L) /\ (exists t, In t (entered e g) /\ W t = L).
Proof.
  destruct groups_in as [_ [LC _]]. assert (Q : forall h, In h (all_of (map (fun t => AtMost t (level_term l)) (entered e g)) :: any_of (map (Equal (level_term l)) (entered e g)) :: level_known l) -> T h = true).
  { intros h I. apply (LC (Claim (in_spans g) h)); [|exact spans_are]. unfold level_claims. now apply (in_map (Claim (in_spans g))). }
  split; [|split].
  - apply forallb_forall. intros h I. apply Q. right; now right.
  - intros t I. pose proof (Q _ (or_introl eq_refl)) as H. unfold T in H. rewrite truth_all, forallb_map, forallb_forall in H. specialize (H t I). cbn [truth] in H. now apply Z.leb_le in H.
  - pose proof (Q _ (or_intror (or_introl eq_refl))) as H. unfold T in H. rewrite truth_any, existsb_map, existsb_exists in H. destruct H as [t [I H]]. cbn [truth] in H. apply Z.eqb_eq in H. exists t. split; auto.
Qed.

Lemma c_none : T none = is_zero cn.
Proof.
  destruct groups_in as [_ [_ [V _]]]. pose proof (V 1%nat _ eq_refl) as H. cbn [given goal forallb] in H. fold c in H. rewrite FC in H. specialize (H eq_refl). unfold T in H. rewrite truth_iff in H. apply eqb_prop in H. exact H.
Qed.

(** A group's largest exponent is that of a product that is not zero. *)
Lemma group_top x : In x xs -> (exists t, In t (tsx x) /\ is_zero t = false /\ exp t = W (top_term (group_front x)) /\ largest d (tsx x) = Some (W (top_term (group_front x)))) \/
  (largest d (tsx x) = None /\ (forall t, In t (tsx x) -> is_zero t = true) /\ W (top_term (group_front x)) = base).
Proof.
  intros I. assert (LE : forall t, In t (tsx x) -> is_zero t = false -> ole (Some (exp t)) (largest d (tsx x))).
  { intros t J Z0. replace (Some (exp t)) with (term_exponent d t) by (unfold term_exponent; now rewrite Z0). now apply largest_in. }
  destruct (pi_top _ _ (group_part x I)) as [[E _]|[E [_ B]]]; cbn [truncated_at Design.top front_part p_top] in *; [left|right].
  - rewrite <- (live_largest d) in E by reflexivity. apply omax_list_in in E. apply in_map_iff in E. destruct E as [t [E J]]. apply filter_In in J. destruct J as [J Z0]. apply negb_true_iff in Z0.
    exists t. split; auto. split; auto. split; [congruence|]. destruct (pi_top _ _ (group_part x I)) as [[E' _]|[E' _]]; cbn [truncated_at Design.top front_part p_top] in E'; [exact E'|]. specialize (LE t J Z0). rewrite E' in LE. easy.
  - split; [exact E|]. split; [|exact B]. intros t J. destruct (is_zero t) eqn:Z0; auto. specialize (LE t J Z0). rewrite E in LE. easy.
Qed.

Let exponent_c : W (exponent c') = v (code c) + low c - (c_bits e - f).
Proof. unfold W, exponent. cbn [value c' lowered code low]. lia. Qed.

Let some_product : forall t, In t ts -> exists x, In x xs /\ In t (tsx x).
Proof.
  intros t I. destruct groups_parts as [_ [_ [NC _]]]. unfold ts in I. rewrite NC, concat_map, map_map in I. apply in_concat in I. destruct I as [k [K I]]. apply in_map_iff in K. destruct K as [x [<- K]]. eauto.
Qed.
Let a_product : forall x t, In x xs -> In t (tsx x) -> In t ts.
Proof.
  intros x t I J. destruct groups_parts as [_ [_ [NC _]]]. unfold ts. rewrite NC, concat_map, map_map. apply in_concat. exists (tsx x). split; auto. now apply (in_map (fun x => map (num_in v) (numbers_of (group_front x)))).
Qed.

Let zc := grid_of e (c_bits e) true cn.
Let zs := zc :: map (grid_of e f false) ts.

Lemma c_grid : match zc with Some z => z = W (c_enters e g) - f | None => is_zero cn = true /\ W (c_enters e g) = base end.
Proof.
  unfold zc, grid_of, c_enters. fold c none f c' base. pose proof c_none as CN. destruct (is_zero cn) eqn:Z0; cbn [negb].
  - destruct (frame_zero e); [split; auto| |].
    + change (W (If none (Num_ base) (exponent c'))) with (if T none then base else W (exponent c')). now rewrite CN.
    + rewrite exponent_c. unfold cn, num_in; cbn [exp]. lia.
    + change (W (If none (Num_ e0) (exponent c'))) with (if T none then e0 else W (exponent c')). now rewrite CN.
  - assert (V : W (match frame_zero e with ZeroNone => If none (Num_ base) (exponent c') | ZeroOwn => exponent c' | ZeroAt z => If none (Num_ z) (exponent c') end) = W (exponent c')).
    { destruct (frame_zero e); auto; [change (W (If none ?a ?b)) with (if T none then W a else W b)|change (W (If none ?a ?b)) with (if T none then W a else W b)]; now rewrite CN. }
    rewrite V, exponent_c. unfold cn, num_in; cbn [exp]. lia.
Qed.

Lemma grid_is : forallb is_zero (ts ++ [cn]) = true \/ omax_list zs = Some (L - f).
Proof.
  destruct (forallb is_zero (ts ++ [cn])) eqn:AZ; [now left|right]. destruct level_is as [_ [LE [t0 [I0 E0]]]]. destruct groups_parts as [_ [_ [_ [_ [BC FI]]]]].
  assert (LX : forall x, In x xs -> W (top_term (group_front x)) <= L) by (intros x I; apply LE; unfold entered; apply in_or_app; left; now apply (in_map (fun x => top_term (group_front x)))).
  assert (LC : W (c_enters e g) <= L) by (apply LE; unfold entered; apply in_or_app; right; now left).
  assert (BX : forall x, In x xs -> base <= W (top_term (group_front x))) by (intros x I; exact (pi_base _ _ (group_part x I))).
  pose proof c_grid as CG.
  assert (IP : forall t, In t ts -> is_zero t = false -> exp t = L -> In (Some (L - f)) zs).
  { intros t I Z0 E. right. apply in_map_iff. exists t. split; auto. unfold grid_of. now rewrite Z0, E. }
  (* a product that is not zero, where the largest exponent is the least one *)
  assert (LOW : L = base -> is_zero cn = true -> In (Some (L - f)) zs).
  { intros LB Z0. rewrite forallb_app in AZ. cbn [forallb] in AZ. rewrite Z0, andb_true_r in AZ. assert (E : exists t, In t ts /\ is_zero t = false).
    { clear -AZ. induction ts as [|t r IH]; [easy|]. cbn [forallb] in AZ. destruct (is_zero t) eqn:Q; [destruct (IH AZ) as [s [A B]]; exists s; split; auto; now right|exists t; split; auto; now left]. }
    destruct E as [t [I Zt]]. destruct (some_product t I) as [x [IX J]]. destruct (group_top x IX) as [[s [S1 [S2 [S3 _]]]]|[_ [AL _]]]; [|rewrite (AL t J) in Zt; easy].
    apply (IP s); auto; [now apply (a_product x)|]. specialize (LX x IX). specialize (BX x IX). lia. }
  apply omax_list_is.
  - intros o [<-|I].
    + destruct zc as [z|]; [cbn [ole]; lia|exact I].
    + apply in_map_iff in I. destruct I as [t [<- I]]. unfold grid_of. destruct (is_zero t) eqn:Z0; cbn [negb]; [exact Logic.I|]. destruct (some_product t I) as [x [IX J]].
      destruct (group_top x IX) as [[s [_ [_ [_ S4]]]]|[_ [AL _]]]; [|rewrite (AL t J) in Z0; easy]. specialize (LX x IX).
      assert (Q : ole (term_exponent d t) (largest d (tsx x))) by now apply largest_in. rewrite S4 in Q. unfold term_exponent in Q. rewrite Z0 in Q. cbn [normalise d group_design ole] in Q |- *. lia.
  - unfold entered in I0. apply in_app_or in I0. destruct I0 as [I0|[<-|[]]].
    + apply in_map_iff in I0. destruct I0 as [x [<- IX]]. destruct (group_top x IX) as [[s [S1 [S2 [S3 _]]]]|[_ [_ B]]].
      * apply (IP s); auto; [now apply (a_product x)|lia].
      * destruct (is_zero cn) eqn:Z0; [apply LOW; auto; lia|]. left. destruct zc as [z|] eqn:ZC; [|destruct CG; congruence]. f_equal.
        assert (V : z = exp cn - c_bits e) by (unfold zc, grid_of in ZC; rewrite Z0 in ZC; cbn [negb] in ZC; congruence).
        assert (exp cn = v (code c) + low c) by reflexivity. assert (low c' = low c - (c_bits e - f)) by reflexivity. destruct (FI (code c) ltac:(simpl; auto)) as [C0 _]. lia.
    + destruct zc as [z|] eqn:ZC; [left; f_equal; lia|]. destruct CG as [Z0 CB]. apply LOW; auto. lia.
Qed.

(** ** Counts *)

Definition group_count (u : Z) (group : list num) : Z :=
  let w := match omax_list (map (fun x => Some (exp x)) (live group)) with Some z => z - f | None => u end in
  round_div RD (zsum (map (cut RD w) (live group))) (u - w).

Lemma group_count_is x : In x xs -> group_count (L - f) (tsx x) = W (Sg (kept_node (group_floored x))) /\ Z.abs (W (Sg (kept_node (group_floored x)))) <= group_bound x /\
  ((forall t, In t (tsx x) -> is_zero t = true) -> W (Sg (kept_node (group_floored x))) = 0).
Proof.
  intros I. destruct groups_parts as [RDM [_ [_ [GP _]]]]. destruct (GP x I) as [FO [TB [W1 FI]]]. destruct groups_in as [GI _]. destruct (GI x I) as [_ FL]. destruct level_is as [LK [LE _]].
  destruct (ok_parts ct d f (group_front x) FO) as [Fb [_ [Cb _]]]. pose proof (group_part x I) as PX.
  assert (LX : W (top_term (group_front x)) <= L) by (apply LE; unfold entered; apply in_or_app; left; now apply (in_map (fun x => top_term (group_front x)))).
  destruct (floored_is ct f base v SOL (truncated_at d (tsx x) false) (front_part (group_front x)) 0 l (group_floored x) (L - f) PX ltac:(lia) W1 (FI (total_node (group_front x)) ltac:(simpl; auto)) (FI _ (or_introl eq_refl)) LK LX FL ltac:(intros _; change (widths_of ct) with m; fold W L; lia)) as [RA BA].
  rewrite Z.pow_0_r, Z.mul_1_r in BA. change (widths_of ct) with m in RA, BA. fold W in RA, BA. split; [|split; [exact BA|]].
  - unfold group_count. rewrite (live_largest d) by reflexivity. rewrite live_counts. cbn [truncated_at count Design.unit] in RA. destruct (group_top x I) as [[_ [_ [_ [_ LG]]]]|[LG [AL _]]].
    + rewrite LG. assert (U : unit_of d (tsx x) = W (top_term (group_front x)) - f) by (unfold unit_of; now rewrite Fb, LG). rewrite U in RA. unfold total in RA. rewrite Cb in RA. unfold counts in RA. rewrite U in RA.
      cbn [alignment d group_design] in RA. rewrite RDM in RA. exact RA.
    + rewrite LG. assert (Z0 : forall u, zsum (map (cut RD u) (tsx x)) = 0) by (intros u; clear -AL; induction (tsx x) as [|t r IH]; [reflexivity|]; cbn [map]; unfold zsum in *; cbn [fold_right]; rewrite IH by (intros; apply AL; now right); rewrite cut_zero by (apply AL; now left); reflexivity).
      rewrite Z0, round_div_0. unfold total in RA. rewrite Cb in RA. unfold counts in RA. cbn [alignment d group_design] in RA. rewrite RDM, Z0, round_div_0 in RA. exact RA.
  - intros AL. cbn [truncated_at count Design.unit] in RA. unfold total in RA. rewrite Cb in RA. unfold counts in RA.
    assert (Z0 : forall mm u, zsum (map (cut mm u) (tsx x)) = 0) by (intros mm u; clear -AL; induction (tsx x) as [|t r IH]; [reflexivity|]; cbn [map]; unfold zsum in *; cbn [fold_right]; rewrite IH by (intros; apply AL; now right); rewrite cut_zero by (apply AL; now left); reflexivity).
    rewrite Z0, round_div_0 in RA. now symmetry.
Qed.

Let kc := W (kept_c g).
Lemma c_count_is : (if drops_c e && (emin (frame_out e) <? L - f) && (cut RZ (L - f) cn =? 0) then 0 else cut RD (L - f) cn) = kc /\ Z.abs kc <= grouped_c_largest g /\ (is_zero cn = true -> kc = 0).
Proof.
  destruct groups_parts as [_ [_ [_ [_ [_ FI]]]]]. destruct groups_in as [_ [_ [V _]]]. destruct level_is as [LK [LE _]].
  assert (FS : fits m v (significand c)) by (apply FI; simpl; auto). assert (FD : fits m v (distance y)) by (apply FI; simpl; auto). assert (FK : fits m v (kept_node y)) by (apply FI; simpl; auto).
  assert (KV : kc = with_sign (v (sign c) =? 1) (v (kept_node y))). { unfold kc, W, kept_c, signed_term. fold c y. cbn [value truth]. unfold with_sign. destruct (v (sign c) =? 1); lia. }
  assert (KL : v (kept_node y) <= grouped_c_largest g). { pose proof (V 5%nat _ eq_refl eq_refl) as H. unfold T in H. cbn [goal truth value] in H. now apply Z.leb_le in H. }
  assert (AK : Z.abs kc <= grouped_c_largest g) by (rewrite KV; unfold with_sign; destruct FK as [K0 _]; destruct (v (sign c) =? 1); lia).
  assert (GO : T (gone m e g) = true -> kc = 0).
  { intros G. pose proof (V 4%nat _ eq_refl) as H. cbn [given goal forallb] in H. rewrite G in H. specialize (H eq_refl). unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. fold y in H. rewrite KV, H. unfold with_sign. now destruct (_ =? 1). }
  assert (ST : T (gone m e g) = false -> T (floor_formula m f c' (distance y) (kept_node y)) = true).
  { intros G. apply (V 3%nat _ eq_refl). cbn [given forallb]. unfold T in *. cbn [truth]. now rewrite G. }
  assert (ZK : is_zero cn = true -> kc = 0).
  { intros Z0. destruct (T (gone m e g)) eqn:G; [now apply GO|]. rewrite KV. rewrite (floor_zero m v f c' (distance y) (kept_node y)); [unfold with_sign; now destruct (_ =? 1)|apply FK| |now apply ST].
    unfold is_zero in Z0. apply Z.eqb_eq in Z0. exact Z0. }
  split; [|split; auto]. destruct (is_zero cn) eqn:Z0. { rewrite !cut_zero by exact Z0. rewrite ZK by reflexivity. now destruct (_ && _). }
  assert (SP : T (c_in_span g) = true) by (pose proof spans_are as H; unfold in_spans in H; rewrite forallb_app in H; cbn [forallb] in H; rewrite !andb_true_iff in H; tauto).
  assert (EL : W (exponent c') <= L).
  { pose proof c_none as CN. rewrite Z0 in CN. assert (LC : W (c_enters e g) <= L) by (apply LE; unfold entered; apply in_or_app; right; now left). unfold c_enters in LC. fold c none f c' in LC.
    destruct (frame_zero e); auto; change (W (If none ?a ?b)) with (if T none then W a else W b) in LC; now rewrite CN in LC. }
  assert (SE : v (distance y) = L - (v (code c') + low c')).
  { pose proof (V 2%nat _ eq_refl) as H. cbn [given goal] in H. fold c none f c' l y in H. change (forallb T (?p :: ?q :: ?r :: ?k)) with (T p && (T q && (T r && forallb T k))) in H. rewrite LK, SP in H.
    assert (NN : T (Negation none) = true) by (unfold T in *; cbn [truth]; pose proof c_none as CN; unfold T in CN; now rewrite CN, Z0). rewrite NN in H.
    assert (AL : T (AtMost (exponent c') (level_term l)) = true) by (unfold T; cbn [truth]; now apply Z.leb_le). rewrite AL in H. specialize (H eq_refl). unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. exact H. }
  assert (SG : forall mm u, cut mm u (num_in v c') = cut mm u cn). { intros mm u. unfold cut, cn, num_in, c', lowered, signed, lsb; cbn [neg sig exp frac sign significand code low bits_below]. do 2 f_equal. lia. }
  assert (GT : T (gone m e g) = drops_c e && (emin (frame_out e) <? L - f) && (cut RZ (L - f) cn =? 0)).
  { unfold gone. fold f c c' l y. destruct (drops_c e); [|reflexivity]. cbv zeta. cbn [andb].
    match goal with |- T (Both (Less (Num_ ?n) (level_term l)) ?h) = _ => change (T (Both (Less (Num_ n) (level_term l)) h)) with ((n <? L) && T h) end.
    f_equal; [destruct (Z.ltb_spec (emin (frame_out e) + f) L), (Z.ltb_spec (emin (frame_out e)) (L - f)); auto; lia|]. unfold T. cbn [truth value].
    rewrite <- SG. replace (L - f) with (v (distance y) + (v (code c') + low c') - f) by lia. unfold num_in. rewrite cut_to_zero by (apply FD || apply FS).
    change (significand c') with (significand c). set (up := Z.max 0 (f - bits_below c')). set (dn := Z.max 0 (bits_below c' - f)). set (w := width_in m (significand c) + up). rewrite Z.mul_1_l.
    destruct (Z.le_gt_cases (v (distance y)) w) as [J|J]; [now rewrite Z.min_l by lia|]. rewrite Z.min_r by lia. destruct FS as [G0 G1].
    assert (UP : 0 <= up) by apply Z.le_max_l. assert (DN : 0 <= dn) by apply Z.le_max_l. pose proof (pow2_pos up UP). pose proof (pow2_pos dn DN).
    assert (WC : 0 <= width_in m (significand c)). { destruct (Z.lt_ge_cases (width_in m (significand c)) 0) as [K|K]; [rewrite Z.pow_neg_r in G1 by lia; lia|lia]. }
    assert (GW : v (significand c) * 2 ^ up < 2 ^ w) by (unfold w; rewrite Z.pow_add_r by lia; apply Z.mul_lt_mono_pos_r; lia).
    assert (WS : 2 ^ w <= 2 ^ v (distance y)) by (apply Z.pow_le_mono_r; unfold w in *; lia). assert (0 < 2 ^ w) by (apply pow2_pos; unfold w; lia).
    destruct (Z.ltb_spec (v (significand c) * 2 ^ up) (2 ^ w * 2 ^ dn)), (Z.ltb_spec (v (significand c) * 2 ^ up) (2 ^ v (distance y) * 2 ^ dn)); auto; exfalso; nia. }
  rewrite <- GT. destruct (T (gone m e g)) eqn:G; [symmetry; now apply GO|]. rewrite KV, <- SG. apply (floor_cut m v f c' (distance y) (kept_node y) L); auto; [apply FD].
Qed.

Lemma kept_groups_is : W (kept_groups g) = zsum (map (fun x => W (Sg (kept_node (group_floored x)))) xs).
Proof.
  unfold kept_groups. fold xs. set (t := fun x => Sg (kept_node (group_floored x))). rewrite <- (map_map t W). generalize (map t xs). intros k. destruct k as [|a r]; [reflexivity|].
  assert (G : forall r a, W (fold_left Plus r a) = W a + zsum (map W r)).
  { clear. induction r as [|b r IH]; intros a; [cbn; lia|]. cbn [fold_left map]. rewrite IH. unfold zsum; cbn [fold_right]. change (W (Plus a b)) with (W a + W b). lia. }
  rewrite G. reflexivity.
Qed.

Lemma total_groups : N = zsum (map (fun x => W (Sg (kept_node (group_floored x)))) xs) + kc /\ Z.abs N <= groups_bound g.
Proof.
  destruct groups_in as [_ [_ [_ TC]]]. destruct c_count_is as [_ [AK _]]. assert (H : T (goal (groups_total_claim g)) = true).
  { apply TC. cbn [groups_total_claim given]. rewrite forallb_app, forallb_map. apply andb_true_iff. split.
    - apply forallb_forall. intros x I. apply (truth_within m v). fold W. destruct (group_count_is x I) as [_ [B _]]. fold m in B. lia.
    - cbn [forallb]. rewrite andb_true_r. destruct groups_in as [_ [_ [V _]]]. exact (V 5%nat _ eq_refl eq_refl). }
  unfold T in H. cbn [groups_total_claim goal truth] in H. apply Z.eqb_eq in H. change (N = W (kept_groups g) + kc) in H. rewrite kept_groups_is in H. split; [exact H|]. rewrite H. unfold groups_bound. fold xs.
  assert (B : Z.abs (zsum (map (fun x => W (Sg (kept_node (group_floored x)))) xs)) <= zsum (map group_bound xs)).
  { assert (G : forall k, (forall x, In x k -> In x xs) -> Z.abs (zsum (map (fun x => W (Sg (kept_node (group_floored x)))) k)) <= zsum (map group_bound k)).
    { induction k as [|x k IH]; intros S; [cbn; lia|]. cbn [map]. unfold zsum in *; cbn [fold_right]. destruct (group_count_is x (S x (or_introl eq_refl))) as [_ [B _]]. specialize (IH (fun z J => S z (or_intror J))). lia. }
    apply G. auto. }
  lia.
Qed.

(** What is rounded is the sum of the groups and c. *)
Theorem groups_finite : counted ct (groups_round e ns g) v N (L - f) /\ Z.abs N <= bound (groups_round e ns g) /\ forallb T (known (groups_round e ns g)) = true /\
  exists s, framed_sum e ts cn = frame_rounded e s N (L - f) /\ (N <> 0 -> s = (N <? 0)).
Proof.
  destruct groups_parts as [RDM [[size [GS CUT]] _]]. destruct total_groups as [NI NB]. destruct level_is as [LK _]. destruct c_count_is as [CI [_ CZ]].
  split. { constructor; try reflexivity. unfold L, level_term, W. cbn [groups_round unit value]. fold l f. lia. }
  split; [exact NB|]. split. { cbn [groups_round known]. change (forallb T (?p :: ?k)) with (T p && forallb T k). fold l. rewrite LK, andb_true_r. apply (truth_within m v). fold W N. lia. }
  assert (GZ : forallb is_zero (ts ++ [cn]) = true -> N = 0).
  { intros AZ. rewrite forallb_app in AZ. cbn [forallb] in AZ. rewrite andb_true_r in AZ. apply andb_prop in AZ. destruct AZ as [AZ ZC]. rewrite NI, CZ, Z.add_0_r by exact ZC.
    assert (G : forall k, (forall x, In x k -> In x xs) -> zsum (map (fun x => W (Sg (kept_node (group_floored x)))) k) = 0).
    { induction k as [|x k IH]; intros S; [reflexivity|]. cbn [map]. unfold zsum in *; cbn [fold_right]. rewrite IH by (intros; apply S; now right). destruct (group_count_is x (S x (or_introl eq_refl))) as [_ [_ Q]]. rewrite Q; [reflexivity|].
      intros t J. rewrite forallb_forall in AZ. apply AZ. now apply (a_product x); [apply S; left|]. }
    now apply G. }
  unfold framed_sum, frame_rounded. rewrite GS. cbn [negb]. fold zc. change (frame_bits e) with f. fold zs. set (u := match omax_list zs with Some z => z | None => 0 end).
  destruct (forallb is_zero (ts ++ [cn])) eqn:AZ.
  - rewrite (GZ eq_refl). change (zsum [0]) with 0. cbv zeta. destruct (first_rounding e) as [h|]; eexists; (split; [first [rewrite (convert_zero h _ u (L - f))|rewrite (convert_zero (frame_out e) _ u (L - f))]; reflexivity|intros NZ; now elim NZ]).
  - assert (U : u = L - f) by (unfold u; destruct grid_is as [Q| ->]; [congruence|reflexivity]). clearbody u. subst u. rewrite RDM in *.
    assert (SM : zsum (frame_counts e (L - f) ts cn ++ [if drops_c e && (emin (frame_out e) <? L - f) && (cut RZ (L - f) cn =? 0) then 0 else cut RD (L - f) cn]) = N).
    { rewrite NI, CI, zsum_app. unfold frame_counts. rewrite GS, RDM. fold f. unfold ts. rewrite map_length, cut_list_map, <- CUT, !map_map.
      change (zsum [kc]) with (kc + 0). rewrite Z.add_0_r. f_equal. f_equal. apply map_ext_in. intros x I. exact (proj1 (group_count_is x I)). }
    cbv zeta. rewrite SM. destruct (first_rounding e) as [h|]; eexists; (split; [reflexivity|]); intros NZ; now apply sign_nonzero.
Qed.
End Finite.
End Sound.
